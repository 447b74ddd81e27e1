# Builds all images for amd64 and arm64:
#
#   REGISTRY=registry.example.org/ VERSION=0.1.0 docker buildx bake --file docker/bake.hcl --push

# The place of the images, with a slash at the end.
variable "REGISTRY" { default = "" }
variable "VERSION" { default = "0.1.0" }
variable "REVISION" { default = "unknown" }
# The platforms, separated by commas.
variable "PLATFORMS" { default = "linux/amd64,linux/arm64" }

group "default" { targets = ["cairn", "service"] }

target "common" {
  context    = "."
  dockerfile = "docker/Dockerfile"
  platforms  = split(",", PLATFORMS)
  args       = { VERSION = VERSION, REVISION = REVISION }
}

target "cairn" {
  inherits = ["common"]
  target   = "cairn"
  tags     = ["${REGISTRY}cairn:${VERSION}"]
}

target "service" {
  name     = service
  inherits = ["common"]
  matrix = {
    service = ["scheduler", "cloner", "cloner-ssh", "parser", "embedder", "graph-writer", "pattern-aggregator", "query"]
  }
  target = service
  tags   = ["${REGISTRY}cairn-${service}:${VERSION}"]
}
