terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.50"
    }
  }
  backend "s3" {
    bucket = "example-tfstate"
    key    = "ledger-api/terraform.tfstate"
    region = "eu-west-1"
  }
}

resource "aws_db_instance" "ledger" {
  identifier        = "ledger"
  engine            = "postgres"
  engine_version    = "16.3"
  instance_class    = "db.t4g.medium"
  allocated_storage = 50
}
