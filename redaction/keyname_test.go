package redaction_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redrivehq/redrive/redaction"
)

func TestKeyRule(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	for rule, names := range map[string][]string{
		"password":      {"password", "Password", "PASSWORD", "passwd", "pwd", "userPassword", "db.password", "db-password", "DB_PASSWORD", "password2", "mysqlpassword", "passwordConfirmation", "passphrase", "ｐassword", "pass\u200bword", "pаssword"},
		"token":         {"token", "accessToken", "refreshTokens", "access_token", "authtoken", "X-Auth-Token", "csrftoken", "id_token", "jwt"},
		"secret":        {"secret", "clientSecret", "client-secret", "secret_value", "SECRETS"},
		"api-key":       {"apiKey", "api_key", "x-api-key", "APIKey", "apikey", "X_API_KEYS", "aws.accessKey"},
		"private-key":   {"private_key", "privateKey", "sshKey", "encryption-key"},
		"authorization": {"Authorization", "proxy-authorization", "auth"},
		"cookie":        {"cookie", "Set-Cookie", "cookies"},
		"session":       {"session", "session_id", "sessionIDs", "userSession"},
		"credential":    {"credentials", "credential", "dsn", "DATABASE_URL"},
		"ssn":           {"ssn", "social_security_number"},
		"card":          {"card_number", "cardNumber", "creditCard", "pan"},
		"cvv":           {"cvv", "CVV2", "cvc"},
		"iban":          {"iban", "payeeIban"},
		"pin":           {"pin", "card_pin", "pinCode"},
		"otp":           {"otp", "2fa_code", "mfaCode"},
		"birth-date":    {"dob", "date_of_birth", "birthDate", "birthday"},
		"email":         {"email", "e-mail", "emailAddress", "user_email", "emails"},
		"phone":         {"phone", "phoneNumber", "mobile", "telephone"},
		"person-name":   {"firstName", "last_name"},
	} {
		for _, name := range names {
			got, found := r.KeyRule(name)
			require.Truef(t, found, "KeyRule(%q): got not sensitive, want %s", name, rule)
			require.Equalf(t, rule, got, "KeyRule(%q)", name)
		}
	}
}

func TestKeyRuleKeeps(t *testing.T) {
	t.Parallel()
	r := newRedactor(t, redaction.Policy{})
	for _, name := range []string{
		"", "id", "max_tokens", "token_count", "prompt_tokens", "tokenizer", "tokenizationId", "author", "author_id", "authority", "monkey", "keyboard",
		"key", "keyword", "postcode", "secretary", "created_at", "createdAt", "primary_key", "foreignKey", "sort_key", "idempotencyKey", "public_key",
		"pageToken", "next_page_token", "asyncToken", "password_changed_at", "token_type", "session_timeout", "is_password_set", "email_verified",
		"pinned", "spin", "expand", "company", "japan", "passenger", "bypass", "compass", "mobile_app", "apiGroup", "capital", "order_id", "status", "name",
		"[redacted:password]", "[redacted:token]#2",
	} {
		rule, found := r.KeyRule(name)
		require.Falsef(t, found, "KeyRule(%q): got %s, want not sensitive", name, rule)
	}
}
