{{- /* The longest that a request may take, its body included, in milliseconds. */}}
{{- define "service.longestRequestMs" -}}
{{- max (int64 .Values.config.REQUEST_TIMEOUT_MS) (int64 .Values.config.BODY_TIMEOUT_MS) }}
{{- end }}

{{- /*
How long a pod may take to end, in milliseconds after SIGTERM: the delay in which new connections are
accepted; five seconds in which requests on idle connections are, the last of which may take as long as
any; and two seconds in which connections and stores are closed.
*/}}
{{- define "service.drainTimeoutMs" -}}
{{- add (int64 .Values.config.DRAIN_DELAY_MS) 5000 (include "service.longestRequestMs" . | int64) 2000 }}
{{- end }}

{{- /* What Kubernetes must wait before it kills: preStop counts too, and so does a slow node. */}}
{{- define "service.leastGracePeriodSeconds" -}}
{{- $drainSeconds := divf (int64 (include "service.drainTimeoutMs" .)) 1000 | ceil | int64 }}
{{- add (int64 .Values.termination.preStopSeconds) $drainSeconds 2 }}
{{- end }}

{{- define "service.gracePeriodSeconds" -}}
{{- .Values.termination.gracePeriodSeconds | default (include "service.leastGracePeriodSeconds" .) | int64 }}
{{- end }}
