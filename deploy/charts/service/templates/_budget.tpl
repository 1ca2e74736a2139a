{{- /* How many pods there are at least. */}}
{{- define "service.leastReplicas" -}}
{{- .Values.autoscaling.enabled | ternary .Values.autoscaling.minReplicas .Values.replicas }}
{{- end }}

{{- /* A drain takes one pod at a time. With a single pod a budget would only block it, so there is none. */}}
{{- define "service.budget" -}}
{{- if ge (include "service.leastReplicas" . | int) 2 }}
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
