package main

import (
	"errors"
	"strings"

	"go.temporal.io/server/common/dynamicconfig"
)

// defaultDynamicConfig is what a local server needs; every other setting keeps the server's default, so that tests meet
// the server that users run. Updates and update-with-start are on by default since 1.28.
func defaultDynamicConfig() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		// The check asks a server on the internet once a day.
		dynamicconfig.EnableServerVersionCheck.Key(): false,
		// A search attribute added now is usable now, not at the next cache refresh.
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
		// Tests poll visibility; the default of ten calls a second per namespace would fail them at random.
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 1000,
	}
}

// addDynamicConfig refuses what the server would only warn about: a key that does not exist has no effect, and the test
// that set it would pass for the wrong reason.
func (o *options) addDynamicConfig(s string) error {
	key, value, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return errors.New("want key=value")
	}
	var loader dynamicconfig.YamlLoader
	loader.LoadValue(dynamicconfig.MakeKey(key), []byte("- value: "+value))
	if err := errors.Join(append(loader.Errors, loader.Warnings...)...); err != nil {
		return err
	}
	for k, v := range loader.Map {
		o.dynamicConfig[k] = v
	}
	return nil
}
