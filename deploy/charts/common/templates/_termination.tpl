{{- /* The longest duration of a request, its body included, in milliseconds. */}}
{{- define "common.longestRequestMs" -}}
{{- max (int64 .Values.config.REQUEST_TIMEOUT_MS) (int64 .Values.config.BODY_TIMEOUT_MS) }}
{{- end }}

{{- /*
The longest shutdown, in milliseconds after SIGTERM. It is the sum of the drain delay, in which the pod accepts
connections; the time in which idle connections may send another request; the longest request; and the time for closing.
*/}}
{{- define "common.drainTimeoutMs" -}}
{{- $drainMs := add (int64 .Values.config.DRAIN_DELAY_MS) (int64 .Values.config.DRAIN_IDLE_MS) }}
{{- add $drainMs (include "common.longestRequestMs" . | int64) (include "common.closeMs" . | int64) }}
{{- end }}

{{- /* Milliseconds for closing: 1 s for connections, then 1 s for stores (CLOSE_STORES_MS). */}}
{{- define "common.closeMs" -}}2000{{- end }}

{{- /* The shortest grace period: preStop, the longest shutdown, and 2 s for a slow node. */}}
{{- define "common.minGracePeriodSeconds" -}}
{{- $drainSeconds := divf (int64 (include "common.drainTimeoutMs" .)) 1000 | ceil | int64 }}
{{- add (int64 .Values.preStopSleepSeconds) $drainSeconds 2 }}
{{- end }}

{{- define "common.gracePeriodSeconds" -}}
{{- .Values.terminationGracePeriodSeconds | default (include "common.minGracePeriodSeconds" .) | int64 }}
{{- end }}
