terraform {
  required_version = "~> 1.7.5"
  required_providers {
    aws        = { source = "hashicorp/aws", version = "~> 4.67" }
    helm       = { source = "hashicorp/helm", version = "~> 2.12" }
    kubernetes = { source = "hashicorp/kubernetes", version = "~> 2.27" }
  }
  backend "s3" {
    bucket         = "acme-tfstate"
    key            = "platform/terraform.tfstate"
    region         = "eu-west-1"
    dynamodb_table = "tf-locks"
  }
}
