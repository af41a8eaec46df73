module github.com/nordfracht/shipping

go 1.23

require (
	connectrpc.com/connect v1.17.0
	github.com/jackc/pgx/v5 v5.7.1
	github.com/nats-io/nats.go v1.37.0
	github.com/prometheus/client_golang v1.20.4
	github.com/pressly/goose/v3 v3.22.1
	github.com/stretchr/testify v1.9.0
	github.com/testcontainers/testcontainers-go v0.33.0
	github.com/testcontainers/testcontainers-go/modules/nats v0.33.0
	github.com/testcontainers/testcontainers-go/modules/postgres v0.33.0
	go.opentelemetry.io/otel v1.30.0
	golang.org/x/sync v0.8.0
	google.golang.org/grpc v1.67.1
	google.golang.org/protobuf v1.35.1
)
