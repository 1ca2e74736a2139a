{{- /*
How many pods the Deployment asks for. With an autoscaler that is not for the Deployment to say, but for
one case: pods that run already stay as many until the autoscaler has chosen a number itself. Kubernetes
would take all of them but one away.
*/}}
{{- define "service.replicas" -}}
{{- if .Values.autoscaling.enabled }}
{{- $running := lookup "apps/v1" "Deployment" .Release.Namespace (include "service.name" .) | default dict }}
{{- $isChosen := false }}
{{- range dig "metadata" "managedFields" list $running }}
{{- if eq (.subresource | default "") "scale" }}{{ $isChosen = true }}{{ end }}
{{- end }}
{{- if and $running (not $isChosen) }}{{ dig "spec" "replicas" 1 $running }}{{ end }}
{{- else }}
{{- .Values.replicas }}
{{- end }}
{{- end }}

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
