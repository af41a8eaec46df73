module "network" {
  source = "../../modules/network"
  cidr   = "10.20.0.0/16"
}

module "eks" {
  source          = "terraform-aws-modules/eks/aws"
  version         = "19.21.0"
  cluster_name    = "prod"
  cluster_version = "1.27"
  vpc_id          = module.network.vpc_id
  subnet_ids      = module.network.private_subnets
}

resource "aws_db_instance" "main" {
  identifier        = "prod-main"
  engine            = "postgres"
  engine_version    = "14.10"
  instance_class    = "db.m6g.large"
  allocated_storage = 200
}
