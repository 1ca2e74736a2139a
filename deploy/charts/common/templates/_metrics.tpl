{{- define "common.metrics" -}}
{{- with .Values.metrics }}
{{- if .serviceMonitor.enabled }}
{{- include "common.monitor" $ }}
---
{{- end }}
{{- if .prometheusRule.enabled }}
{{- include "common.alerts" $ }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A Service of the health ports for Prometheus. It includes pods that are not ready. */}}
{{- define "common.monitor" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "common.name" . }}-metrics
  labels:
    {{- include "common.labels" . | nindent 4 }}
    app.kubernetes.io/component: metrics
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    {{- include "common.selectorLabels" . | nindent 4 }}
  ports:
    - name: health
      port: {{ include "common.healthPort" . }}
      targetPort: health
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "common.name" . }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    {{- with .Values.metrics.serviceMonitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .Chart.Name }}
      app.kubernetes.io/instance: {{ .Release.Name }}
      app.kubernetes.io/component: metrics
  endpoints:
    - port: health
      path: /metrics
      interval: {{ .Values.metrics.serviceMonitor.interval }}
{{- end }}

{{- /* A file of the service's chart, for this release. */}}
{{- define "common.monitoringFile" -}}
{{- $root := index . 0 }}
{{- $file := index . 1 }}
{{- $text := $root.Files.Get $file | required (printf "Cannot read %s: the chart %s needs it" $file $root.Chart.Name) }}
{{- $text | replace "NAMESPACE" $root.Release.Namespace | replace "SERVICE" (include "common.name" $root) }}
{{- end }}

{{- /* Recording and alerting rules, generated from deploy/slo.ts. */}}
{{- define "common.alerts" -}}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {{ include "common.name" . }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    {{- with .Values.metrics.prometheusRule.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- $rules := include "common.monitoringFile" (list . "files/alerts.yaml") }}
  {{- with .Values.metrics.prometheusRule.runbookUrl }}
  {{- $rules = replace "RUNBOOK" . $rules }}
  {{- else }}
  {{- $rules = regexReplaceAll "(?m)^ *runbook_url: .*\n" $rules "" }}
  {{- end }}
  {{- $rules | nindent 2 }}
{{- end }}

{{- define "common.metricsErrors" -}}
{{- with .Values.metrics }}
{{- if and .prometheusRule.enabled (not .serviceMonitor.enabled) }}
metrics.prometheusRule.enabled is true, but metrics.serviceMonitor.enabled is false, so that Prometheus would have no metrics and the alert ServiceUnavailable would fire permanently: expected metrics.serviceMonitor.enabled true
{{- end }}
{{- end }}
{{- end }}
