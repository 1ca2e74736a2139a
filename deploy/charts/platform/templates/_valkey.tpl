{{- define "platform.valkeyName" -}}{{ include "service.nameOf" (list . "valkey") }}{{- end }}

{{- /*
Counts last for a minute, so no copy of them is kept for long; but they are there again after a crash of
the server alone. Short of memory, those go that would end soonest.
*/}}
{{- define "platform.valkeyConf" -}}
bind * -::*
port 6379
requirepass {{ .password }}
dir /data
save ""
appendonly yes
appendfsync everysec
maxmemory {{ .maxMemory }}
maxmemory-policy volatile-ttl
{{- end }}
