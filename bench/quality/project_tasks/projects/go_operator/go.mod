module github.com/acme/db-backup-operator

go 1.22

require (
	github.com/aws/aws-sdk-go-v2/service/s3 v1.54.0
	github.com/go-logr/logr v1.4.1
	github.com/onsi/ginkgo/v2 v2.17.1
	github.com/onsi/gomega v1.32.0
	github.com/prometheus/client_golang v1.19.0
	github.com/robfig/cron/v3 v3.0.1
	k8s.io/api v0.30.1
	k8s.io/apimachinery v0.30.1
	k8s.io/client-go v0.30.1
	sigs.k8s.io/controller-runtime v0.18.2
)
