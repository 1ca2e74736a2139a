{{- /* The longest duration of a request, its body included, in milliseconds. */}}
{{- define "common.longestRequestMs" -}}
{{- max (int64 .Values.config.REQUEST_TIMEOUT_MS) (int64 .Values.config.BODY_TIMEOUT_MS) }}
{{- end }}

{{- /*
The longest shutdown, in milliseconds after SIGTERM: the drain delay, in which new connections are
accepted; 5 s in which idle connections may send another request; the longest request; and 2 s to close
connections and stores.
*/}}
{{- define "common.drainTimeoutMs" -}}
{{- add (int64 .Values.config.DRAIN_DELAY_MS) 5000 (include "common.longestRequestMs" . | int64) 2000 }}
{{- end }}

{{- /* The shortest grace period: preStop counts, and 2 s for a slow node. */}}
{{- define "common.minGracePeriodSeconds" -}}
{{- $drainSeconds := divf (int64 (include "common.drainTimeoutMs" .)) 1000 | ceil | int64 }}
{{- add (int64 .Values.preStopSleepSeconds) $drainSeconds 2 }}
{{- end }}

{{- define "common.gracePeriodSeconds" -}}
{{- .Values.terminationGracePeriodSeconds | default (include "common.minGracePeriodSeconds" .) | int64 }}
{{- end }}
