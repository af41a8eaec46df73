terraform {
  required_version = ">= 1.7"
  required_providers {
    aws  = { source = "hashicorp/aws", version = "~> 5.60" }
    helm = { source = "hashicorp/helm", version = "~> 2.14" }
  }
  backend "s3" {
    bucket = "acme-tfstate"
    key    = "eks/prod.tfstate"
    region = "eu-west-1"
  }
}
module "eks" {
  source          = "terraform-aws-modules/eks/aws"
  version         = "~> 20.20"
  cluster_name    = "prod-euw1"
  cluster_version = "1.29"
  vpc_id          = module.vpc.vpc_id
  subnet_ids      = module.vpc.private_subnets
  enable_irsa     = true
}
