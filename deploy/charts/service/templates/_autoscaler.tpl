{{- define "service.autoscaler" -}}
{{- with .Values.autoscaling }}
{{- if .enabled }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "service.name" $ }}
  labels:
    {{- include "service.labels" $ | nindent 4 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "service.name" $ }}
  minReplicas: {{ .minReplicas }}
  maxReplicas: {{ .maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ .cpuPercent }}
    {{- with .requestsPerSecond }}
    - type: Pods
      pods:
        metric:
          name: {{ $.Values.autoscaling.requestsMetric }}
        target:
          type: AverageValue
          averageValue: {{ . | quote }}
    {{- end }}
  behavior:
    {{- toYaml .behavior | nindent 4 }}
{{- end }}
{{- end }}
{{- end }}
