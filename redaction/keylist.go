package redaction

import (
	"slices"
	"strings"
)

// place says where in a key name a preset word makes the key sensitive.
type place int

const (
	anywhere place = iota
	head           // the head noun: last, or followed by words that add nothing (session_data)
	whole          // nothing else in the name
)

// keyWord is one preset: a word or a few, and where they count.
type keyWord struct {
	rule string
	place
}

// fits checks the place of the size words that end at words[end].
func (w keyWord) fits(words []string, end, size int) bool {
	switch w.place {
	case whole:
		return len(words) == size
	case head:
		for _, word := range words[end:] {
			if !emptyTails[word] && !harmlessTails[word] {
				return false
			}
		}
	}
	return true
}

// keyPreset is one rule: its name is the placeholder's label, its words are singular and in lower case.
type keyPreset struct {
	rule  string
	place place
	words string // separated by commas
}

// keyPresets is the built-in list: the union of what error trackers, log scrubbers and scanners ship, as words.
func keyPresets() []keyPreset {
	return []keyPreset{
		{"password", anywhere, "password,passwd,pwd,passphrase,passcode,pass word,contraseña,passwort,kennwort"},
		{"password", head, "pw,db pass,database pass"},
		{"password", whole, "pass"},
		{"secret", anywhere, "secret,mnemonic,seed phrase,recovery phrase,recovery code,backup code,client assertion"},
		{"token", anywhere, "token,jwt,saml response,magic link,nonce secret"},
		{"api-key", anywhere, "api key,apikey,access key,account key,auth key,service key,consumer key,client key,license key," +
			"licence key,webhook key,storage key,deploy key,functions key,subscription key,app key"},
		{"private-key", anywhere, "private key,secret key,encryption key,signing key,master key,shared key,ssh key,pgp key,host key,keystore,kubeconfig," +
			"dockerconfigjson,pgpass,netrc"},
		{"authorization", anywhere, "authorization,proxy authorization,bearer"},
		{"authorization", head, "auth,authentication"},
		{"cookie", anywhere, "cookie,phpsessid,jsessionid,sessionid,csrf,xsrf"},
		{"session", anywhere, "session id,session key,session secret,session cookie,user session,session data"},
		{"session", head, "session,sid"},
		{"credential", anywhere, "credential,cred,dsn,connection string,conn str,database url,db url,jdbc url,broker url,redis url,amqp url,vcap service"},
		{"signature", whole, "signature,sig"},
		{"signature", anywhere, "x amz signature,x goog signature"},
		{"otp", anywhere, "otp,totp,mfa code,fa code,two factor,one time code,verification code,auth code,authorization code,security code"},
		{"pin", head, "pin,pin code"},
		{"card", anywhere, "card number,card no,credit card,debit card,cc number,cc num,cardholder,card holder,track data,payment card"},
		{"card", head, "pan"},
		{"cvv", anywhere, "cvv,cvc,csc"},
		{"iban", anywhere, "iban"},
		{"bank-account", anywhere, "bank account,account number,account no,routing number,sort code,acct number"},
		{"ssn", anywhere, "ssn,social security,social insurance"},
		{"national-id", anywhere, "national id,passport,tax id,tin number,nino,nhs number,driver license,driver licence,driving licence," +
			"identity number,id number,personal number,medical record,health insurance,insurance number"},
		{"birth-date", anywhere, "dob,birth date,birthdate,birthday,date of birth,birth day,birth place,place of birth"},
		{"email", anywhere, "email address,e mail,mail address"},
		{"email", head, "email,emailaddress"},
		{"email", whole, "mail"},
		{"phone", anywhere, "phone,telephone,msisdn,cell number,mobile number,fax number"},
		{"phone", whole, "tel,mobile,fax,cell"},
		{"person-name", anywhere, "first name,last name,full name,maiden name,given name,family name,middle name,surname,firstname,lastname,fullname"},
		{"address", anywhere, "street,home address,billing address,shipping address,postal address,mailing address,address line,ip address,remote addr," +
			"mac address,x forwarded for,x real ip"},
		{"address", whole, "address"},
		{"special-category", anywhere, "religion,ethnicity,diagnosis,sexual orientation,political opinion,biometric"},
		{"device-id", anywhere, "imei,device id,advertising id"},
	}
}

// presetWords indexes the presets by their words. The same word may be listed once only.
func presetWords() map[string]keyWord {
	words := map[string]keyWord{}
	for _, preset := range keyPresets() {
		for word := range strings.SplitSeq(preset.words, ",") {
			words[word] = keyWord{rule: preset.rule, place: preset.place}
		}
	}
	return words
}

// squashedRule finds presets in names without any separator: mysqlpassword, XAUTHTOKEN. Only endings count, which is
// what keeps secretary, tokenizer and monkey.
func squashedRule(word string) string {
	word = singular(word)
	switch {
	case hasAnySuffix(word, "password", "passwd", "passphrase", "passcode"):
		return "password"
	case hasAnySuffix(word, "apikey", "accesskey", "accountkey"):
		return "api-key"
	case hasAnySuffix(word, "privatekey", "secretkey", "encryptionkey", "signingkey", "masterkey"):
		return "private-key"
	case hasAnySuffix(word, "secret"):
		return "secret"
	case hasAnySuffix(word, "token"):
		return "token"
	case hasAnySuffix(word, "cardnumber", "creditcard"):
		return "card"
	case hasAnySuffix(word, "emailaddress", "useremail"):
		return "email"
	case hasAnySuffix(word, "phonenumber"):
		return "phone"
	case hasAnySuffix(word, "dateofbirth"):
		return "birth-date"
	case hasAnySuffix(word, "accountnumber"):
		return "bank-account"
	}
	return ""
}

func hasAnySuffix(word string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(word, suffix) })
}

// These sets are never written.
var (
	// emptyTails add nothing to the noun before them: session_value is the session.
	emptyTails = set("value,text,raw,plain,data,string,hash,enc,encrypted,current,new,old,confirm,confirmation,main,primary,work,home,user,host,to,from,cc,bcc,number,no,header")
	// harmlessTails make a name describe the secret instead of holding it.
	harmlessTails = set("count,limit,max,min,ttl,expires,expiry,expiration,expire,type,kind,length,len,size,usage,index,at,in,policy,enabled,disabled," +
		"required,optional,valid,invalid,verified,confirmed,changed,updated,created,status,state,version,strength,attempts,attempt,retries,timeout," +
		"duration,age,format,name,algorithm,method,provider,endpoint,template,brand,model,os,price,cost,quota,budget,rate,seconds,ms,days,exists,set,sent,used,remaining,details")
	// harmlessHeads make a name a count or a flag.
	harmlessHeads = set("max,min,num,total,has,is,count,requires,needs,enable,disable,avg")
	// tokenCounters stand before "tokens" where text is measured in them.
	tokenCounters = set("max,min,num,total,prompt,completion,input,output,cached,reasoning,used,remaining,thinking")
	// keptKeys are whole names, squashed, that read like a secret and are a position or an idempotency key.
	keptKeys = set("pagetoken,nextpagetoken,previouspagetoken,nexttoken,continuationtoken,synctoken,nextsynctoken,asynctoken," +
		"idempotencytoken,clientrequesttoken,cancellationtoken,tokentype")
)

func set(list string) map[string]bool {
	members := map[string]bool{}
	for member := range strings.SplitSeq(list, ",") {
		members[member] = true
	}
	return members
}
