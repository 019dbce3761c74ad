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
func (w keyWord) fits(n *keyName, end, size int) bool {
	switch w.place {
	case whole:
		return n.count == size
	case head:
		for i := end; i < n.count; i++ {
			if word := n.word(i); !emptyTails[string(word)] && !harmlessTails[string(word)] {
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
		{"password", anywhere, "password,passwd,pwd,passphrase,passcode,pass word,contraseña,passwort,kennwort,motdepasse,senha,mot de passe"},
		{"password", head, "pw,db pass,database pass,host password"},
		{"password", whole, "pass,key pass"},
		{"secret", anywhere, "secret,mnemonic,seed phrase,recovery phrase,recovery code,backup code,client assertion"},
		{"secret", head, "salt"},
		{"token", anywhere, "token,jwt,saml response,magic link,nonce secret,bearer token"},
		{"token", whole, "assertion"},
		{"api-key", anywhere, "api key,apikey,access key,account key,auth key,service key,consumer key,client key,license key," +
			"licence key,webhook key,storage key,deploy key,functions key,subscription key,app key,stripe sk"},
		{"private-key", anywhere, "private key,secret key,encryption key,signing key,master key,shared key,ssh key,pgp key,host key,keystore,kubeconfig," +
			"dockerconfigjson,pgpass,netrc,priv key"},
		{"certificate", head, "certificate,cert,issuer certificate"},
		{"authorization", anywhere, "authorization,proxy authorization,bearer"},
		{"authorization", head, "auth,authentication"},
		{"cookie", anywhere, "cookie,phpsessid,jsessionid,sessionid,csrf,xsrf,connect sid"},
		{"session", anywhere, "session id,session key,session secret,session cookie,user session,session data"},
		{"session", head, "session,sid"},
		{"credential", anywhere, "credential,cred,dsn,connection string,conn str,database url,db url,jdbc url,broker url,redis url,amqp url,vcap service,webhook url"},
		{"signature", whole, "signature,sig"},
		{"signature", anywhere, "x amz signature,x goog signature,temp url sig"},
		{"otp", anywhere, "otp,totp,mfa code,fa code,two factor,one time code,verification code,auth code,authorization code,security code,security pin"},
		{"pin", head, "pin,pin code"},
		{"card", anywhere, "card number,card no,card num,credit card,debit card,cc number,cc num,cardholder,card holder,payment card,ccnumber,ccnum"},
		{"card", head, "pan"},
		{"track", anywhere, "track data,magstripe"},
		{"cvv", anywhere, "cvv,cvc,csc"},
		{"iban", anywhere, "iban"},
		{"bank-account", anywhere, "bank account,account number,account no,account num,acc number,acc num,bank acc,routing acc,routing account," +
			"routing number,routing num,sort code,acct number,account bank,account routing"},
		{"bank-account", whole, "bic,swift,swift code,bic code,bic swift"},
		{"ssn", anywhere, "ssn,social security,social insurance"},
		{"national-id", anywhere, "national id,passport,tax id,tax number,tin number,nino,nhs number,driver license,driver licence,drivers license," +
			"driving licence,driving license,identity number,id number,personal number,medical record,health insurance,insurance number,aadhaar,cpf,cnpj,pesel,bsn," +
			"codice fiscale,steuer id,nric,medicare number"},
		{"national-id", whole, "sin,nir,nif,nie,tin"},
		{"birth-date", anywhere, "dob,birth date,birthdate,birthday,date of birth,birth day,birth place,place of birth,geburtsdatum,year of birth"},
		{"email", anywhere, "email address,e mail,mail address,email addr"},
		{"email", head, "email,emailaddress"},
		{"email", whole, "mail"},
		{"phone", anywhere, "phone,telephone,msisdn,cell number,mobile number,fax number,mobile phone,telefon"},
		{"phone", whole, "tel,mobile,fax,cell"},
		{"person-name", anywhere, "first name,last name,full name,maiden name,given name,family name,middle name,surname,firstname,lastname,fullname,forename"},
		{"address", anywhere, "street,home address,billing address,shipping address,postal address,mailing address,address line,street address," +
			"geo lat,latitude,longitude"},
		{"address", whole, "address"},
		{"ip", anywhere, "ip address,remote addr,x forwarded for,x real ip,client ip,remote ip"},
		{"special-category", anywhere, "religion,ethnicity,diagnosis,sexual orientation,political opinion,biometric,gender identity,health condition,trade union"},
		{"device-id", anywhere, "imei,device id,advertising id,idfa,mac address"},
		{"postcode", anywhere, "zip code,postal code,postcode,zipcode"},
		{"postcode", whole, "zip"},
		{"record-number", anywhere, "mrn,record number,plan number,beneficiary number,member number,licence number,license number,member id,patient id"},
		{"vehicle-id", anywhere, "vin,license plate,licence plate,number plate,vehicle id,registration number"},
		{"date", anywhere, "admission date,discharge date,date of death,death date"},
	}
}

// presetWords indexes the words of the rules that are on. The same word may be listed once only.
func presetWords(active map[string]bool) map[string]keyWord {
	words := map[string]keyWord{}
	for _, preset := range keyPresets() {
		if !active[preset.rule] {
			continue
		}
		for word := range strings.SplitSeq(preset.words, ",") {
			words[word] = keyWord{rule: preset.rule, place: preset.place}
		}
	}
	return words
}

const (
	minSquashed = 5
	maxSquashed = 48
	maxSegment  = 14
)

// segments are the words that names without separators are cut into: those of the presets and their usual companions.
func segments() map[string]bool {
	words := set("field,input,num,number,no,code,confirm,confirmation,new,old,repeat,current,my,mysql,sql,db,user,login,client,stripe,access,refresh,id,bank," +
		"account,acc,routing,card,cc,issuer,pin,pan,hidden,text,value,data,hash,admin,root,app,web,http,smtp,ldap,redis,postgres,aws,customer,billing,home,work")
	for _, preset := range keyPresets() {
		for word := range strings.FieldsFuncSeq(preset.words, func(c rune) bool { return c == ',' || c == ' ' }) {
			if len(word) >= 2 && len(word) <= maxSegment {
				words[word] = true
			}
		}
	}
	return words
}

// ending finds presets at the end of a word without separators: XAUTHTOKEN. It keeps secretary, tokenizer and monkey.
func (k *keyRules) ending(word string) string {
	word = singular(word)
	for _, e := range endings {
		if strings.HasSuffix(word, e.suffix) && k.words[e.word].rule != "" {
			return k.words[e.word].rule
		}
	}
	return ""
}

// endings name the preset word whose rule they follow. It is never written.
var endings = []struct{ suffix, word string }{
	{"password", "password"},
	{"passwd", "passwd"},
	{"passphrase", "passphrase"},
	{"passcode", "passcode"},
	{"apikey", "api key"},
	{"accesskey", "access key"},
	{"accountkey", "account key"},
	{"privatekey", "private key"},
	{"secretkey", "secret key"},
	{"encryptionkey", "encryption key"},
	{"signingkey", "signing key"},
	{"masterkey", "master key"},
	{"secret", "secret"},
	{"token", "token"},
	{"cardnumber", "card number"},
	{"creditcard", "credit card"},
	{"emailaddress", "email address"},
	{"useremail", "email"},
	{"phonenumber", "phone"},
	{"dateofbirth", "date of birth"},
	{"accountnumber", "account number"},
}

func singular(word string) string {
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}

// numberedCode is true for the names of second factors, whose digit is part of the word.
func numberedCode(squashed []byte) bool {
	name := string(squashed)
	for _, affix := range []string{"field", "input"} {
		name = strings.TrimSuffix(strings.TrimPrefix(name, affix), affix)
	}
	return slices.Contains([]string{"2fa", "2facode", "2fapin", "2fatoken"}, name)
}

// These sets are never written.
var (
	// emptyTails add nothing to the noun before them: session_value is the session.
	emptyTails = set("value,text,raw,plain,data,string,hash,enc,encrypted,current,new,old,confirm,confirmation,main,primary,work,home,user,host,to,from,cc,bcc,number,no,header,field,input,hidden")
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
