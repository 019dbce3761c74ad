package redaction

import (
	"fmt"
	"slices"
)

// Preset is a named group of rules.
type Preset string

// The presets. A policy without any has [DefaultPresets].
const (
	PresetSecrets Preset = "secrets"           // credentials of any kind
	PresetPCI     Preset = "pci"               // card numbers and what PCI DSS calls sensitive authentication data
	PresetGDPR    Preset = "gdpr-basic"        // direct identifiers (art. 4(1)) and special categories (art. 9) by key name
	PresetHIPAA   Preset = "hipaa-safe-harbor" // gdpr-basic, and the identifiers of 45 CFR 164.514(b)(2) that have a shape or a name
	PresetStrict  Preset = "strict"            // everything above, and default deny: only what Policy.Allow lists stays
)

// AllPresets returns every preset.
func AllPresets() []Preset {
	return []Preset{PresetSecrets, PresetPCI, PresetGDPR, PresetHIPAA, PresetStrict}
}

// DefaultPresets are on unless Policy.ReplaceDefaults says otherwise.
func DefaultPresets() []Preset { return []Preset{PresetSecrets, PresetPCI, PresetGDPR} }

// The rules that are not detectors or key presets.
const (
	rulePath     = "path"     // Policy.Paths
	ruleKey      = "key"      // Policy.Keys
	ruleLiteral  = "literal"  // Policy.Literals
	ruleURLPath  = "url-path" // Policy.URLPaths
	ruleUnlisted = "unlisted" // allow-list mode
	rulePayload  = "payload"  // a text echoes a payload that was not understood
	ruleWithheld = "withheld" // a text that could not be redacted
)

func ownRules() []string {
	return []string{rulePath, ruleKey, ruleLiteral, ruleURLPath, ruleUnlisted, rulePayload, ruleWithheld}
}

// presetRules lists the rules of each preset by the name in their placeholder. It is never written.
var presetRules = map[Preset]map[string]bool{
	PresetSecrets: set("password,secret,token,api-key,private-key,authorization,cookie,session,credential,signature,otp,pin,certificate," +
		"pem,aws-key,github-token,gitlab-token,slack-token,stripe-key,google-key,jwt,vendor-key,url-userinfo,url-param,bearer,basic,db-detail,high-entropy"),
	PresetPCI: set("card,cvv,pin,track,card-number"),
	PresetGDPR: set("card,card-number,iban,bank-account,ssn,national-id,birth-date,email,phone,person-name,address,special-category,device-id,ip," +
		"wallet,db-detail"),
	PresetHIPAA: set("card,card-number,iban,bank-account,ssn,national-id,birth-date,email,phone,person-name,address,special-category,device-id,ip,wallet," +
		"db-detail,date,postcode,record-number,vehicle-id,mac"),
}

// activeRules returns the names of the rules that the policy's presets switch on.
func (p Policy) activeRules() (map[string]bool, error) {
	presets := p.Presets
	if !p.ReplaceDefaults {
		presets = append(DefaultPresets(), presets...)
	}
	active := set(rulePath + "," + ruleKey + "," + ruleLiteral + "," + ruleURLPath + "," + ruleUnlisted)
	for i, preset := range presets {
		if !slices.Contains(AllPresets(), preset) {
			return nil, p.bad("presets", i-(len(presets)-len(p.Presets)), fmt.Errorf("%q, allowed are %q", preset, AllPresets()))
		}
		of := []Preset{preset}
		if preset == PresetStrict {
			of = []Preset{PresetSecrets, PresetPCI, PresetGDPR, PresetHIPAA}
		}
		for _, one := range of {
			for rule := range presetRules[one] {
				active[rule] = true
			}
		}
	}
	return active, nil
}

// strict is true when the policy denies what it does not list.
func (p Policy) strict() bool { return slices.Contains(p.Presets, PresetStrict) }

// AllRules returns the names of every rule that may stand in a placeholder or under Policy.Operators, sorted.
func AllRules() []string {
	names := ownRules()
	for _, preset := range presetRules {
		for rule := range preset {
			names = append(names, rule)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func presetLabels() map[string]bool {
	labels := map[string]bool{}
	for _, rule := range AllRules() {
		labels[rule] = true
	}
	return labels
}
