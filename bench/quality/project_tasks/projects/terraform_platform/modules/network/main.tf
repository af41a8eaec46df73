variable "cidr" { type = string }
module "vpc" {
  source             = "terraform-aws-modules/vpc/aws"
  version            = "5.1.0"
  name               = "platform"
  cidr               = var.cidr
  enable_nat_gateway = true
}
output "vpc_id" { value = module.vpc.vpc_id }
output "private_subnets" { value = module.vpc.private_subnets }
