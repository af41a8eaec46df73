rootProject.name = "loan-service"
