defmodule PhoenixChat.MixProject do
  use Mix.Project

  def project do
    [
      app: :phoenix_chat,
      version: "0.4.1",
      elixir: "~> 1.16",
      elixirc_paths: elixirc_paths(Mix.env()),
      aliases: [setup: ["deps.get", "ecto.create", "ecto.migrate"], test: ["ecto.create --quiet", "ecto.migrate --quiet", "test"]],
      deps: deps()
    ]
  end

  def application, do: [mod: {PhoenixChat.Application, []}, extra_applications: [:logger]]
  defp elixirc_paths(:test), do: ["lib", "test/support"]
  defp elixirc_paths(_), do: ["lib"]

  defp deps do
    [
      {:phoenix, "~> 1.7.12"}, {:phoenix_ecto, "~> 4.5"}, {:ecto_sql, "~> 3.11"}, {:postgrex, ">= 0.0.0"},
      {:phoenix_live_view, "~> 0.20.14"}, {:phoenix_pubsub, "~> 2.1"}, {:oban, "~> 2.17"}, {:bcrypt_elixir, "~> 3.0"},
      {:swoosh, "~> 1.5"}, {:finch, "~> 0.18"}, {:jason, "~> 1.4"}, {:bandit, "~> 1.5"}, {:earmark, "~> 1.4"},
      {:floki, ">= 0.30.0", only: :test}, {:ex_machina, "~> 2.7", only: :test}, {:mox, "~> 1.1", only: :test},
      {:credo, "~> 1.7", only: [:dev, :test], runtime: false}, {:dialyxir, "~> 1.4", only: :dev, runtime: false},
      {:tailwind, "~> 0.2", runtime: Mix.env() == :dev}, {:esbuild, "~> 0.8", runtime: Mix.env() == :dev}
    ]
  end
end
