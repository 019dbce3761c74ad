#!/bin/sh
# Makes the namespace and redrive's search attributes, once the server answers. Running it again changes nothing.
# The server keeps the type of an attribute that exists, whatever is asked: hence the check at the end.
set -eu

tries=60
until temporal operator cluster health >/dev/null 2>&1; do
  tries=$((tries - 1))
  if [ "$tries" -eq 0 ]; then
    echo "temporal at $TEMPORAL_ADDRESS does not answer" >&2
    exit 1
  fi
  sleep 2
done

temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 72h

attributes='
JobType=Keyword
JobState=Keyword
JobErrorClass=Keyword
JobFingerprint=Keyword
JobHandlerVersion=Keyword
JobAttempts=Int
'
for attribute in $attributes; do
  temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
    --name "${attribute%%=*}" --type "${attribute##*=}"
done

present=$(temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE")
for attribute in $attributes; do
  if ! echo "$present" | grep -Eq "(^|[[:space:]])${attribute%%=*}[[:space:]]+${attribute##*=}([[:space:]]|\$)"; then
    echo "search attribute $attribute is missing in $TEMPORAL_NAMESPACE, or has another type:" >&2
    echo "$present" >&2
    exit 1
  fi
done
