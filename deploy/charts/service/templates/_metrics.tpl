{{- /* The labels that select the series of this service. */}}
{{- define "service.series" -}}
namespace="{{ .Release.Namespace }}",service="{{ include "service.name" . }}-metrics"
{{- end }}

{{- define "service.metrics" -}}
{{- with .Values.metrics }}
{{- if .serviceMonitor.enabled }}
{{- include "service.monitor" $ }}
---
{{- end }}
{{- if .prometheusRule.enabled }}
{{- include "service.alerts" $ }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A Service of the health ports for Prometheus. It includes pods that are not ready. */}}
{{- define "service.monitor" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "service.name" . }}-metrics
  labels:
    {{- include "service.labels" . | nindent 4 }}
    app.kubernetes.io/component: metrics
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    {{- include "service.selectorLabels" . | nindent 4 }}
  ports:
    - name: health
      port: {{ include "service.healthPort" . }}
      targetPort: health
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
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

{{- /* Labels of an alert: (list $ "critical"). They keep the alerts of several services apart. */}}
{{- define "service.alertLabels" -}}
{{- $root := index . 0 -}}
severity: {{ index . 1 }}
namespace: {{ $root.Release.Namespace }}
service: {{ include "service.name" $root }}
{{- end }}

{{- define "service.alerts" -}}
{{- $series := include "service.series" . }}
{{- $name := include "service.name" . }}
{{- $rule := .Values.metrics.prometheusRule }}
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {{ $name }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
    {{- with $rule.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  groups:
    - name: {{ $name }}
      rules:
        - alert: ServiceAway
          expr: absent(up{ {{- $series -}} } == 1)
          for: 2m
          labels:
            {{- include "service.alertLabels" (list $ "critical") | nindent 12 }}
          annotations:
            summary: No pod of {{ $name }} is available
        - alert: ServiceFails
          expr: |-
            sum(rate(http_requests_total{ {{- $series -}} ,status="5xx"}[5m]))
              / sum(rate(http_requests_total{ {{- $series -}} }[5m])) > {{ $rule.errorShare }}
          for: 5m
          labels:
            {{- include "service.alertLabels" (list $ "critical") | nindent 12 }}
          annotations:
            summary: More than {{ $rule.errorShare }} of the responses of {{ $name }} are 5xx
        - alert: ServiceSlow
          expr: |-
            histogram_quantile(0.99,
              sum by (le) (rate(http_request_duration_seconds_bucket{ {{- $series -}} }[5m]))) > {{ $rule.p99Seconds }}
          for: 10m
          labels:
            {{- include "service.alertLabels" (list $ "warning") | nindent 12 }}
          annotations:
            summary: One of a hundred requests to {{ $name }} takes longer than {{ $rule.p99Seconds }} s
        - alert: ServiceSheds
          expr: sum by (reason) (rate(http_requests_shed_total{ {{- $series -}} }[5m])) > 0
          for: 5m
          labels:
            {{- include "service.alertLabels" (list $ "warning") | nindent 12 }}
          annotations:
            summary: {{ $name }} rejects requests with 503 because of overload ({{ "{{ $labels.reason }}" }})
        {{- if .Values.store }}
        - alert: ServiceWaitsForDatabase
          expr: sum(db_pool_connections{ {{- $series -}} ,state="waiting"}) > 0
          for: 5m
          labels:
            {{- include "service.alertLabels" (list $ "warning") | nindent 12 }}
          annotations:
            summary: Requests to {{ $name }} wait for a connection to the database
        {{- end }}
        {{- if .Values.rateLimit }}
        - alert: LimitsFail
          expr: sum by (limit) (rate(rate_limit_decisions_total{ {{- $series -}} ,outcome="failed"}[5m])) > 0
          for: 5m
          labels:
            {{- include "service.alertLabels" (list $ "critical") | nindent 12 }}
          annotations:
            summary: The limit {{ "{{ $labels.limit }}" }} of {{ $name }} cannot decide
        {{- end }}
{{- end }}
