{{- /* How many pods there are at least, and at most. */}}
{{- define "service.leastReplicas" -}}
{{- .Values.autoscaling.enabled | ternary .Values.autoscaling.minReplicas .Values.replicas }}
{{- end }}
{{- define "service.mostReplicas" -}}
{{- .Values.autoscaling.enabled | ternary .Values.autoscaling.maxReplicas .Values.replicas }}
{{- end }}

{{- /*
A drain takes one pod at a time, however many the autoscaler has made; of a single pod it takes that
one, so it is never blocked. Where there is never another pod, a budget has nothing to say.
*/}}
{{- define "service.budget" -}}
{{- if ge (include "service.mostReplicas" . | int) 2 }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  # A pod that is not ready serves nobody: it must not keep a node from being drained.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "service.selectorLabels" . | nindent 6 }}
{{- end }}
{{- end }}
