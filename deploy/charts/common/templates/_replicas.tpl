{{- /* The smallest and the largest number of pods. */}}
{{- define "common.minReplicas" -}}
{{- .Values.autoscaling.enabled | ternary .Values.autoscaling.minReplicas .Values.replicaCount }}
{{- end }}
{{- define "common.maxReplicas" -}}
{{- .Values.autoscaling.enabled | ternary .Values.autoscaling.maxReplicas .Values.replicaCount }}
{{- end }}

{{- /*
The number of pods of the workload; empty with an autoscaler that has set it. Until then, running pods keep their
number: without the field, Kubernetes would reduce them to one.
*/}}
{{- define "common.replicas" -}}
{{- if .Values.autoscaling.enabled }}
{{- $workload := include "common.workload" . | fromYaml }}
{{- $running := lookup $workload.apiVersion $workload.kind .Release.Namespace (include "common.name" .) | default dict }}
{{- $isScaled := false }}
{{- range dig "metadata" "managedFields" list $running }}
{{- if eq (.subresource | default "") "scale" }}{{ $isScaled = true }}{{ end }}
{{- end }}
{{- if and $running (not $isScaled) }}{{ dig "spec" "replicas" 1 $running }}{{ end }}
{{- else }}
{{- .Values.replicaCount }}
{{- end }}
{{- end }}

{{- define "common.autoscaler" -}}
{{- with .Values.autoscaling }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "common.name" $ | quote }}
  labels:
    {{- include "common.labels" $ | nindent 4 }}
spec:
  scaleTargetRef:
    {{- include "common.workload" $ | nindent 4 }}
    name: {{ include "common.name" $ | quote }}
  minReplicas: {{ .minReplicas }}
  maxReplicas: {{ .maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: Utilization
          averageUtilization: {{ .targetCPUUtilizationPercentage }}
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

{{- define "common.podDisruptionBudget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ .Values.podDisruptionBudget.maxUnavailable }}
  # A pod that is not ready serves no requests: it must not block a node drain.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "common.selectorLabels" . | nindent 6 }}
{{- end }}
