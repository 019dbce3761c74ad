package config

import (
	"strconv"
	"time"
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
	for _, o := range overrides(&Settings{}) {
		all = append(all, o.variable)
	}
	return all
}

func overrides(s *Settings) []override {
	return []override{
		{"REDRIVE_STORE_URL", "store.url", text(&s.Store.URL)},
		{"REDRIVE_VAULT_KEYSET_FILE", "vault.keyset_file", text(&s.Vault.KeysetFile)},
		{"REDRIVE_ADMIN_LISTEN", "admin.listen", text(&s.Admin.Listen)},
		{"REDRIVE_ADMIN_TOKEN_FILE", "admin.token_file", text(&s.Admin.TokenFile)},
		{"REDRIVE_ADMIN_TOKEN", "admin.token", text(&s.Admin.Token)},
		{"REDRIVE_WORKER_DRAIN", "worker.drain", duration(&s.Worker.Drain)},
		{"REDRIVE_WORKER_MAX_CONCURRENT", "worker.max_concurrent", number(&s.Worker.MaxConcurrent)},
		{"REDRIVE_WORKER_HANDLER_VERSION", "worker.handler_version", text(&s.Worker.HandlerVersion)},
		{"REDRIVE_WORKER_IDENTITY", "worker.identity", text(&s.Worker.Identity)},
		{"REDRIVE_LOG_LEVEL", "log.level", text(&s.Log.Level)},
		{"REDRIVE_LOG_FORMAT", "log.format", text(&s.Log.Format)},
	}
}

// override applies the variables that are set; an empty one counts as unset.
func (d *document) override(s *Settings, getenv func(string) string) {
	if getenv == nil {
		return
	}
	for _, o := range overrides(s) {
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
