module github.com/packrat-io/packrat

go 1.22.4

require (
	github.com/aws/aws-sdk-go-v2 v1.30.3
	github.com/aws/aws-sdk-go-v2/config v1.27.27
	github.com/aws/aws-sdk-go-v2/feature/s3/manager v1.17.10
	github.com/aws/aws-sdk-go-v2/service/s3 v1.58.2
	github.com/klauspost/compress v1.17.9
	github.com/schollz/progressbar/v3 v3.14.4
	github.com/spf13/cobra v1.8.1
	github.com/spf13/viper v1.19.0
	github.com/stretchr/testify v1.9.0
	golang.org/x/crypto v0.25.0
	golang.org/x/sync v0.7.0
)
