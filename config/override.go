package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/redrivehq/redrive/redaction"
)

// override is one REDRIVE_* variable and the setting it replaces.
type override struct {
	variable string
	key      string
	set      func(value string) (reason string)
}

// Variables returns the names of all variables that Load looks up.
func Variables() []string {
	var all []string
	for _, o := range overrides(&Config{}) {
		all = append(all, o.variable)
	}
	return all
}

func overrides(c *Config) []override {
	return []override{
		{"REDRIVE_STORE", "store.url", text(&c.Store.URL)},
		{"REDRIVE_VAULT_KEYSET", "vault.keyset_file", text(&c.Vault.KeysetFile)},
		{"REDRIVE_VAULT_KEYSET_JSON", "vault.keyset_json", text(&c.Vault.KeysetJSON)},
		{"REDRIVE_VAULT_KMS_URI", "vault.kms_uri", text(&c.Vault.KMSURI)},
		{"REDRIVE_ADMIN_LISTEN", "admin.listen", text(&c.Admin.Listen)},
		{"REDRIVE_ADMIN_TOKEN_FILE", "admin.token_file", text(&c.Admin.TokenFile)},
		{"REDRIVE_ADMIN_TOKEN", "admin.token", text(&c.Admin.Token)},
		{"REDRIVE_ADMIN_PRIVILEGED_TOKEN_FILE", "admin.privileged_token_file", text(&c.Admin.PrivilegedTokenFile)},
		{"REDRIVE_ADMIN_PRIVILEGED_TOKEN", "admin.privileged_token", text(&c.Admin.PrivilegedToken)},
		{"REDRIVE_ADMIN_CODEC_ORIGINS", "admin.codec_origins", list(&c.Admin.CodecOrigins)},
		{"REDRIVE_WORKER_DRAIN", "worker.drain", duration(&c.Worker.Drain)},
		{"REDRIVE_WORKER_MAX_CONCURRENT", "worker.max_concurrent", number(&c.Worker.MaxConcurrent)},
		{"REDRIVE_HANDLER_VERSION", "worker.handler_version", text(&c.Worker.HandlerVersion)},
		{"REDRIVE_WORKER_IDENTITY", "worker.identity", text(&c.Worker.Identity)},
		{"REDRIVE_WORKER_METRICS_LISTEN", "worker.metrics_listen", text(&c.Worker.MetricsListen)},
		{"REDRIVE_REDACTION_KEYS", "policies.redaction.hmac_keys", redactionKeys(&c.Policies)},
		{"REDRIVE_LOG_LEVEL", "log.level", text(&c.Log.Level)},
		{"REDRIVE_LOG_FORMAT", "log.format", text(&c.Log.Format)},
	}
}

// override applies the variables that are set; an empty one counts as unset.
func (d *document) override(c *Config, getenv func(string) string) {
	if getenv == nil {
		return
	}
	for _, o := range overrides(c) {
		value := getenv(o.variable)
		if value == "" {
			continue
		}
		d.variables[o.key] = o.variable
		if reason := o.set(value); reason != "" {
			d.complain(o.key, "%s", reason)
		}
	}
}

func text(setting *string) func(string) string {
	return func(value string) string {
		*setting = value
		return ""
	}
}

// list takes values with commas between them.
func list(setting *[]string) func(string) string {
	return func(value string) string {
		*setting = nil
		for item := range strings.SplitSeq(value, ",") {
			*setting = append(*setting, strings.TrimSpace(item))
		}
		return ""
	}
}

// redactionKeys gives every policy the keys of the operator hmac: a file that is copied around is no place for them.
func redactionKeys(policies *Policies) func(string) string {
	return func(value string) string {
		keys, err := redaction.ParseHMACKeys(value)
		if err != nil {
			return err.Error()
		}
		policies.Default.Redaction.HMACKeys = keys
		for t, policy := range policies.Types {
			policy.Redaction.HMACKeys = keys
			policies.Types[t] = policy
		}
		return ""
	}
}

func duration(setting *time.Duration) func(string) string {
	return func(value string) string {
		parsed, err := time.ParseDuration(value)
		if err != nil || parsed == 0 {
			return "is not a duration such as 30s or 15m"
		}
		*setting = parsed
		return ""
	}
}

func number(setting *int) func(string) string {
	return func(value string) string {
		parsed, err := strconv.Atoi(value)
		if err != nil || parsed == 0 {
			return "is not a whole number above 0"
		}
		*setting = parsed
		return ""
	}
}
