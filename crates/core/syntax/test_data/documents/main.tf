# Where state lives.
terraform {
  backend "s3" {}
}

variable "region" {
  type    = string
  default = "eu-west-1" # {not a block}
}

resource "aws_s3_bucket" "ledger" {
  bucket = "ledger-${var.region}"

  tags = {
    Owner = "platform"
  }
}

module "network" {
  source = "./network"
}
