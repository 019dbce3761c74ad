package deploy_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/job"
)

const token = "REDRIVE_ADMIN_TOKEN=a-token-for-the-test"

// load reads docker-compose.yml as the compose program does: schema, interpolation and consistency checks included, with
// no variables but the given ones.
func load(t *testing.T, environment ...string) (*types.Project, error) {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{"../docker-compose.yml"}, cli.WithEnv(environment), cli.WithConsistency(true))
	require.NoError(t, err)
	return options.LoadProject(context.WithoutCancel(t.Context()))
}

func newProject(t *testing.T) *types.Project {
	t.Helper()
	project, err := load(t, token)
	require.NoError(t, err)
	return project
}

func TestComposeServices(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, []string{
		"postgres", "temporal-schema", "temporal", "temporal-namespace", "temporal-ui",
		"redrive-keys", "redrive-migrate", "redrive-worker", "redrive-admin",
	}, newProject(t).ServiceNames())
}

// TestComposeImages wants versions that do not move, plain names, and none of the images that set up schemas by themselves.
func TestComposeImages(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^[a-z-]+(/[a-z-]+)?:\d+\.\d+(\.\d+)?$`)
	versions := map[string]string{}
	for name, service := range newProject(t).Services {
		require.NotContains(t, service.Image, "auto-setup", name)
		if service.Build != nil {
			require.Equal(t, "deploy/Dockerfile", service.Build.Dockerfile, name)
			require.Equal(t, "redrive:local", service.Image, name)
			continue
		}
		require.Regexp(t, pinned, service.Image, name)
		repository, version, _ := strings.Cut(service.Image, ":")
		versions[repository] = version
	}
	require.Equal(t, versions["temporalio/server"], versions["temporalio/admin-tools"], "the schema is the server's")
}

func TestComposeHealthChecks(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	for _, name := range []string{"postgres", "temporal", "temporal-ui"} {
		require.NotNil(t, project.Services[name].HealthCheck, name)
		require.NotEmpty(t, project.Services[name].HealthCheck.Test, name)
	}
	for name, service := range project.Services {
		for needed, how := range service.DependsOn {
			switch how.Condition {
			case types.ServiceConditionHealthy:
				require.NotNil(t, project.Services[needed].HealthCheck, "%s waits for %s to be healthy", name, needed)
			case types.ServiceConditionCompletedSuccessfully:
				require.NotEqual(t, "unless-stopped", project.Services[needed].Restart, "%s waits for %s to end", name, needed)
			default:
				require.Fail(t, "dependency without a condition that means something", "%s on %s: %s", name, needed, how.Condition)
			}
		}
	}
}

// TestComposeOrder wants every service to be startable: repeatedly take those whose dependencies are started.
func TestComposeOrder(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	var started []string
	for round := 0; len(started) < len(project.Services); round++ {
		require.LessOrEqual(t, round, len(project.Services), "a cycle among those not in %v", started)
		for name, service := range project.Services {
			ready := !slices.ContainsFunc(service.GetDependencies(), func(needed string) bool { return !slices.Contains(started, needed) })
			if ready && !slices.Contains(started, name) {
				started = append(started, name)
			}
		}
	}
	for _, name := range []string{"redrive-worker", "redrive-admin"} {
		require.Subset(t, project.Services[name].GetDependencies(), []string{"redrive-migrate", "redrive-keys", "temporal-namespace"}, name)
	}
}

func TestComposePortsAreLoopback(t *testing.T) {
	t.Parallel()
	published := map[string]string{}
	for name, service := range newProject(t).Services {
		require.NotEqual(t, "host", service.NetworkMode, name)
		for _, port := range service.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, name)
			require.Empty(t, published[port.Published], "port %s is published twice", port.Published)
			published[port.Published] = name
		}
	}
	require.Len(t, published, 3)
}

func TestComposeSecrets(t *testing.T) {
	t.Parallel()

	t.Run("TokenIsRequired", func(t *testing.T) {
		t.Parallel()
		for _, environment := range [][]string{nil, {"REDRIVE_ADMIN_TOKEN="}} {
			_, err := load(t, environment...)
			require.ErrorContains(t, err, "REDRIVE_ADMIN_TOKEN")
		}
	})
	t.Run("TokenIsTheAdminsOnly", func(t *testing.T) {
		t.Parallel()
		for name, service := range newProject(t).Services {
			_, has := service.Environment["REDRIVE_ADMIN_TOKEN"]
			require.Equal(t, name == "redrive-admin", has, name)
		}
	})
	t.Run("PasswordsComeFromTheEnvironment", func(t *testing.T) {
		t.Parallel()
		project, err := load(t, token, "POSTGRES_PASSWORD=pw1", "TEMPORAL_DB_PASSWORD=pw2", "REDRIVE_DB_PASSWORD=pw3")
		require.NoError(t, err)
		all, err := project.MarshalYAML()
		require.NoError(t, err)
		require.NotContains(t, string(all), "local-development-only", "a password that cannot be set")
		require.Equal(t, "pw2", *project.Services["temporal"].Environment["POSTGRES_PWD"])
		require.Equal(t, "pw2", *project.Services["temporal-schema"].Environment["SQL_PASSWORD"])
	})
}

func TestComposeRedriveServices(t *testing.T) {
	t.Parallel()
	project := newProject(t)
	for _, name := range []string{"redrive-migrate", "redrive-worker", "redrive-admin"} {
		service := project.Services[name]
		require.Equal(t, []string{strings.TrimPrefix(name, "redrive-")}, []string(service.Command), name)
		require.Equal(t, "temporal:7233", *service.Environment["TEMPORAL_ADDRESS"], name)
		require.True(t, strings.HasPrefix(*service.Environment["REDRIVE_STORE"], "postgres://redrive:"), name)
		for _, volume := range service.Volumes {
			require.True(t, volume.ReadOnly, "%s: %s", name, volume.Target)
		}
	}
	require.Equal(t, []string{"keys", "create"}, []string(project.Services["redrive-keys"].Command))
}

// TestComposeMountsExist: an engine that does not find a mounted file makes a directory in its place.
// redrive.example.yaml is not asked here: its mount says that it must exist.
func TestComposeMountsExist(t *testing.T) {
	t.Parallel()
	for name, service := range newProject(t).Services {
		for _, volume := range service.Volumes {
			if volume.Type != types.VolumeTypeBind || (volume.Bind != nil && !bool(volume.Bind.CreateHostPath)) {
				continue
			}
			info, err := os.Stat(volume.Source)
			require.NoError(t, err, name)
			require.True(t, info.Mode().IsRegular(), "%s: %s", name, volume.Source)
		}
	}
}

// TestNamespaceJob wants the search attributes that the code writes, with their types, and no others.
func TestNamespaceJob(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("compose/temporal-namespace.sh")
	require.NoError(t, err)
	var got []string
	for _, match := range regexp.MustCompile(`(?m)^(Job\w+=\w+)$`).FindAllStringSubmatch(string(script), -1) {
		got = append(got, match[1])
	}
	var want []string
	for _, attribute := range job.SearchAttributes() {
		want = append(want, attribute.Name+"="+attribute.Type)
	}
	require.ElementsMatch(t, want, got)
}

func TestDockerfile(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	text := string(content)
	require.NotContains(t, text, ":latest")
	require.Contains(t, text, "CGO_ENABLED=0")
	require.Contains(t, text, "USER 65532:65532")
	require.Contains(t, text, `ENTRYPOINT ["/redrive"]`)
	stages := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(text, -1)
	require.Len(t, stages, 2)
	require.Regexp(t, `^golang:1\.26\.\d+-`, stages[0][1])
}
