module github.com/deskline/tickets

go 1.22

require (
	github.com/gin-gonic/gin v1.10.0
	github.com/gin-contrib/cors v1.7.2
	github.com/go-playground/validator/v10 v10.20.0
	github.com/golang-jwt/jwt/v5 v5.2.1
	github.com/redis/go-redis/v9 v9.5.1
	github.com/spf13/viper v1.18.2
	github.com/stretchr/testify v1.9.0
	go.uber.org/zap v1.27.0
	gorm.io/driver/mysql v1.5.6
	gorm.io/gorm v1.25.10
)
