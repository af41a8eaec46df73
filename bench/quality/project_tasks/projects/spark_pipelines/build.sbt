ThisBuild / scalaVersion := "2.12.18"
ThisBuild / organization := "com.lakeworks"

lazy val root = (project in file("."))
  .settings(
    name := "sessionizer",
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % "3.5.1" % Provided,
      "io.delta" %% "delta-spark" % "3.2.0",
      "com.github.scopt" %% "scopt" % "4.1.0",
      "org.scalatest" %% "scalatest" % "3.2.18" % Test
    ),
    Test / fork := true,
    assembly / assemblyJarName := "sessionizer.jar"
  )
