// Package vault keeps the payloads of dead letters encrypted, apart from the records that describe them.
//
// A payload is sealed with AES-256-GCM under a Tink keyset; the associated data binds it to its reference, job type and
// key, so a row that was swapped with another does not open. A keyset may hold older keys besides its primary one:
// after a rotation they still open what they sealed. The keyset is a file that only its owner may read; it is never in
// the database, so a copy of the database holds no readable payload, and losing the keyset loses the payloads.
//
// DataConverter makes payload codecs safe for workflows: when encryption is out of order (a key service that is down),
// the workflow task fails and is tried again, and the workflow does not.
package vault
