#!/usr/bin/env bash
# A policy in another language: answers on policy.<name> with nothing but bash and the NATS protocol.
# It lets nobody use the tools named in DENIED_TOOLS.
#
#   NATS_URL=nats://127.0.0.1:4222 DENIED_TOOLS="bash remove" examples/policies/responder.sh tool-list
#
# and in a policy set:  { name: tool-list, seam: pre-tool, responder: tool-list }
set -euo pipefail
LC_ALL=C # lengths are bytes

name=${1:?expected the name of the policy}
address=${NATS_URL:-nats://127.0.0.1:4222}
address=${address#*://}
user='' password=''
if [[ $address == *@* ]]; then
  user=${address%%:*}
  password=${address#*:}
  password=${password%@*}
  address=${address##*@}
fi

# Gets an event as JSON, gives an answer as JSON; `{}` is no objection. With jq at hand, read it with jq.
decide() {
  local event=$1 tool
  for tool in ${DENIED_TOOLS:-}; do
    if [[ $event == *"\"tool_name\":\"$tool\""* ]]; then
      printf '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"%s is not for agents"}}' "$tool"
      return
    fi
  done
  printf '{}'
}

exec 3<>"/dev/tcp/${address%:*}/${address##*:}"
read -r _ <&3 # INFO
printf 'CONNECT {"verbose":false,"user":"%s","pass":"%s","name":"%s"}\r\n' "$user" "$password" "$name" >&3
# In a queue group, several of them share the work.
printf 'SUB policy.%s %s 1\r\nPING\r\n' "$name" "$name" >&3

while IFS=$' \r' read -r operation _ _ reply size <&3; do
  case $operation in
    PING) printf 'PONG\r\n' >&3 ;;
    PONG) echo "answering on policy.$name" ;;
    MSG)
      read -r -N "$size" event <&3
      read -r _ <&3
      answer=$(decide "$event")
      printf 'PUB %s %d\r\n%s\r\n' "$reply" "${#answer}" "$answer" >&3
      ;;
  esac
done
