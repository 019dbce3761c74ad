// Package deploy holds what operators run redrive with: the image (Dockerfile), the files that the repository's
// docker-compose.yml mounts (compose/), and tests that read both closely, since a build machine need not have a container
// engine. There is no code to import here.
package deploy
