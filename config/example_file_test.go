package config_test

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/config"
	"github.com/redrivehq/redrive/handlers/webhook"
	"github.com/redrivehq/redrive/job"
	"github.com/redrivehq/redrive/redaction"
)

const example = "../redrive.example.yaml"

func TestExampleStatesTheDefaults(t *testing.T) {
	t.Parallel()
	got, err := config.Load(example, nil)
	require.NoError(t, err)

	want := config.Defaults()
	want.Policies.Default.Redaction = redaction.Policy{
		Mode: redaction.DenyList, MaxBytes: redaction.DefaultMaxBytes, MaxDepth: redaction.DefaultMaxDepth,
		MaxTextBytes: redaction.DefaultMaxTextBytes, Budget: redaction.DefaultBudget,
		MaxTokens: redaction.DefaultMaxTokens, MaxDecode: redaction.DefaultMaxDecode, DuplicateKeys: redaction.WithholdAll,
		Keys: []string{}, Allow: []string{}, Paths: []string{}, Patterns: []redaction.Pattern{}, Presets: []redaction.Preset{},
		Literals: []string{}, URLPaths: []string{}, Operators: map[string]redaction.Operator{},
	}
	want.Admin.CodecOrigins = []string{}
	want.Policies.Types = got.Policies.Types
	require.Equal(t, job.DefaultPolicy(), config.Defaults().Policies.Default)
	require.Equal(t, want, got)
}

// TestExampleTypes pins what the example says of the shipped handlers. Its webhook timeout is shorter than the shipped
// one on purpose; all else is the same.
func TestExampleTypes(t *testing.T) {
	t.Parallel()
	got, err := config.Load(example, nil)
	require.NoError(t, err)
	require.ElementsMatch(t, []job.Type{webhook.Type, "email.send", "demo.slow"}, slices.Collect(maps.Keys(got.Policies.Types)))

	shipped := webhook.Definition("owner").Policy.WithDefaults()
	shipped.Timeout = time.Minute
	shipped.Redaction = got.Policies.Default.Redaction
	require.Equal(t, shipped, got.Policies.Types[webhook.Type])
	require.Equal(t, 10*time.Second, shipped.Lease)
	require.Greater(t, shipped.Timeout, webhook.DefaultTimeout)
}

// TestExampleStatesEverySetting finds a new setting that the example does not explain.
func TestExampleStatesEverySetting(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(example)
	require.NoError(t, err)
	var tree map[string]any
	require.NoError(t, yaml.Unmarshal(source, &tree))
	requireSettings(t, "", tree, reflect.TypeFor[config.Config]())
}

func requireSettings(t *testing.T, key string, tree map[string]any, settings reflect.Type) {
	t.Helper()
	for i := range settings.NumField() {
		name, _, _ := strings.Cut(settings.Field(i).Tag.Get("yaml"), ",")
		if name == "-" {
			continue
		}
		require.Contains(t, tree, name, key)
		if below, ok := tree[name].(map[string]any); ok && settings.Field(i).Type.Kind() == reflect.Struct {
			requireSettings(t, key+name+".", below, settings.Field(i).Type)
		}
	}
}

// TestExampleNamesEveryVariable keeps two promises: the example names each variable, and each setting outside policies
// has one.
func TestExampleNamesEveryVariable(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(example)
	require.NoError(t, err)
	for _, variable := range config.Variables() {
		require.Contains(t, string(source), variable)
	}

	want := 1 // the keys of the policies' operator hmac, which no file holds
	settings := reflect.TypeFor[config.Config]()
	for i := range settings.NumField() {
		if section := settings.Field(i); section.Name != "Policies" {
			want += section.Type.NumField()
		}
	}
	require.Len(t, config.Variables(), want)
}
