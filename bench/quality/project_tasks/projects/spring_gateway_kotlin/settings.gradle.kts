rootProject.name = "tollbridge-gateway"
