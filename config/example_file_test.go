package config_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

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
		Keys: []string{}, Allow: []string{}, Paths: []string{}, Patterns: []redaction.Pattern{},
	}
	want.Policies.Types = got.Policies.Types
	require.Equal(t, want, got)

	shipped := webhook.Definition("owner").Policy.WithDefaults()
	shipped.Redaction = want.Policies.Default.Redaction
	require.Equal(t, shipped, got.Policies.Types[webhook.Type])
	require.Contains(t, got.Policies.Types, job.Type("email.send"))
}

// TestExampleStatesEverySetting finds a new setting that the example does not explain.
func TestExampleStatesEverySetting(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(example)
	require.NoError(t, err)
	var tree map[string]any
	require.NoError(t, yaml.Unmarshal(source, &tree))
	requireSettings(t, "", tree, reflect.TypeFor[config.Settings]())
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

// TestExampleNamesEveryVariable keeps the promise that each setting outside policies has a variable named after it.
func TestExampleNamesEveryVariable(t *testing.T) {
	t.Parallel()
	want := []string{"REDRIVE_ADMIN_TOKEN"}
	settings := reflect.TypeFor[config.Settings]()
	for i := range settings.NumField() {
		section := settings.Field(i)
		if section.Name == "Policies" {
			continue
		}
		for j := range section.Type.NumField() {
			if name := section.Type.Field(j).Tag.Get("yaml"); name != "-" {
				want = append(want, "REDRIVE_"+strings.ToUpper(section.Tag.Get("yaml")+"_"+name))
			}
		}
	}
	require.ElementsMatch(t, want, config.Variables())
}
