# Builds all images for amd64 and arm64:
#
#   REGISTRY=registry.example.org/cairn docker buildx bake --file docker/bake.hcl --push

variable "REGISTRY" { default = "cairn" }
variable "VERSION" { default = "0.1.0" }
variable "REVISION" { default = "unknown" }

group "default" { targets = ["image"] }

target "image" {
  name       = image
  matrix     = { image = ["scheduler", "cloner", "cloner-ssh", "parser", "embedder", "graph-writer", "pattern-aggregator", "query", "cairn"] }
  context    = "."
  dockerfile = "docker/Dockerfile"
  target     = image
  tags       = ["${REGISTRY}/${image}:${VERSION}"]
  platforms  = ["linux/amd64", "linux/arm64"]
  args       = { VERSION = VERSION, REVISION = REVISION }
}
