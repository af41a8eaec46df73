ThisBuild / scalaVersion := "3.3.3"
ThisBuild / organization := "com.acme.trading"
val PekkoVersion = "1.0.3"
lazy val root = (project in file("."))
  .enablePlugins(JavaAppPackaging, DockerPlugin)
  .settings(
    name := "trading-core",
    libraryDependencies ++= Seq(
      "org.apache.pekko" %% "pekko-actor-typed" % PekkoVersion,
      "org.apache.pekko" %% "pekko-stream" % PekkoVersion,
      "org.apache.pekko" %% "pekko-cluster-sharding-typed" % PekkoVersion,
      "org.apache.pekko" %% "pekko-persistence-typed" % PekkoVersion,
      "org.apache.pekko" %% "pekko-persistence-jdbc" % "1.0.0",
      "org.apache.pekko" %% "pekko-http" % "1.0.1",
      "org.apache.pekko" %% "pekko-connectors-kafka" % "1.0.0",
      "org.postgresql" % "postgresql" % "42.7.3",
      "com.typesafe.slick" %% "slick" % "3.5.1",
      "io.circe" %% "circe-generic" % "0.14.9",
      "ch.qos.logback" % "logback-classic" % "1.5.6",
      "org.scalatest" %% "scalatest" % "3.2.19" % Test,
      "org.apache.pekko" %% "pekko-actor-testkit-typed" % PekkoVersion % Test,
      "com.dimafeng" %% "testcontainers-scala-postgresql" % "0.41.4" % Test
    )
  )
