{{- /* The type of the object that creates the pods. */}}
{{- define "common.workload" -}}
{{- if .Values.progressiveDelivery.enabled -}}
apiVersion: argoproj.io/v1alpha1
kind: Rollout
{{- else -}}
apiVersion: apps/v1
kind: Deployment
{{- end }}
{{- end }}

{{- define "common.previewName" -}}
{{- include "common.name" . }}-preview
{{- end }}

{{- /* How a Rollout replaces a version: all pods of the next one are started and analysed before the switch. */}}
{{- define "common.rolloutStrategy" -}}
{{- $delivery := .Values.progressiveDelivery }}
progressDeadlineSeconds: {{ $delivery.progressDeadlineSeconds }}
progressDeadlineAbort: true
strategy:
  blueGreen:
    activeService: {{ include "common.name" . }}
    previewService: {{ include "common.previewName" . }}
    # Proxies use open connections to pods of an aborted version until these terminate.
    abortScaleDownDelaySeconds: 1
    prePromotionAnalysis:
      templates:
        - templateName: {{ include "common.name" . }}-trial
        - templateName: {{ include "common.name" . }}-objectives
      {{- include "common.analysisArguments" . | nindent 6 }}
    postPromotionAnalysis:
      templates:
        - templateName: {{ include "common.name" . }}-observation
      {{- include "common.analysisArguments" . | nindent 6 }}
{{- end }}

{{- define "common.analysisArguments" -}}
args:
  - name: pods
    valueFrom:
      podTemplateHashValue: Latest
{{- end }}

{{- /* Selects the pods of the next version; the controller sets the selector. */}}
{{- define "common.previewService" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "common.previewName" . }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    app.kubernetes.io/component: preview
spec:
  type: ClusterIP
  ports:
    - name: http
      port: {{ .Values.service.port }}
      targetPort: http
      appProtocol: http
{{- end }}

{{- define "common.analysis" -}}
{{- $delivery := .Values.progressiveDelivery }}
{{- include "common.trial" . }}
{{- /* The Job of the trial needs about 5 s to start. */}}
---
{{ include "common.objectives" (dict "root" . "name" "objectives" "seconds" (add 5 (int64 $delivery.trialSeconds))) }}
---
{{ include "common.objectives" (dict "root" . "name" "observation" "seconds" $delivery.observationSeconds) }}
{{- end }}

{{- /* Repeats the program of "helm test" against the next version. The first failure ends it. */}}
{{- define "common.trial" -}}
{{- $delivery := .Values.progressiveDelivery }}
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata:
  name: {{ include "common.name" . }}-trial
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  metrics:
    - name: trial
      provider:
        job:
          spec:
            backoffLimit: 0
            ttlSecondsAfterFinished: 3600
            template:
              metadata:
                labels:
                  {{- include "common.testLabels" . | nindent 18 }}
                  {{- include "common.callerLabels" (list .Chart.Name) | trim | nindent 18 }}
              spec:
                {{- include "common.testPod" (dict "root" . "service" (include "common.previewName" .) "seconds" $delivery.trialSeconds) | trim | nindent 16 }}
{{- end }}

{{- /*
The objectives, measured by Prometheus every 5 s since the pods of a version were started:
(dict "root" $ "name" suffix "seconds" 60).
*/}}
{{- define "common.objectives" -}}
{{- $root := .root }}
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata:
  name: {{ include "common.name" $root }}-{{ .name }}
  labels:
    {{- include "common.labels" $root | nindent 4 }}
spec:
  args:
    - name: pods
  metrics:
    # The first samples take two intervals in which Prometheus reads metrics.
    - name: has-metrics
      initialDelay: 15s
      count: 1
      successCondition: len(result) > 0
      provider:
        prometheus:
          address: {{ $root.Values.progressiveDelivery.prometheus.address }}
          query: count(process_start_time_seconds{ {{- include "common.versionSeries" $root }}})
    {{- range $name, $query := include "common.violations" $root | fromYaml }}
    - name: {{ $name }}
      interval: 5s
      # The controller rejects a count that is an argument.
      count: {{ add 1 (div (int64 $.seconds) 5) }}
      successCondition: len(result) == 0
      provider:
        prometheus:
          address: {{ $root.Values.progressiveDelivery.prometheus.address }}
          query: |-
            {{- $query | nindent 12 }}
    {{- end }}
{{- end }}

{{- /* Selects the series of the pods of one version: the controller replaces the argument by their hash. */}}
{{- define "common.versionSeries" -}}
namespace="{{ .Release.Namespace }}",pod=~"{{ include "common.name" . }}-{{ "{{args.pods}}" }}-.*"
{{- end }}

{{- /* Queries by name that find nothing as long as a version meets an objective. */}}
{{- define "common.violations" -}}
{{- $series := include "common.versionSeries" . }}
{{- $queries := dict }}
{{- range include "common.indicators" (dict "root" . "series" $series) | fromYamlArray }}
{{- $name := list (trimSuffix "BudgetBurn" .alert) .labels.kind .labels.quantile | compact | join "-" | lower | replace "." "-" }}
{{- $share := printf "%s > %v" (include "common.badShare" (list . "")) .budget }}
{{- $events := printf "%s >= %s" (include "common.badEvents" (list . "")) (include "common.minBadEvents" $) }}
{{- $_ := set $queries $name (printf "%s\nand on () %s" $share $events) }}
{{- end }}
{{- $_ := set $queries "restarts" (printf "changes(process_start_time_seconds{%s}[5m]) > 0" $series) }}
{{- /* The memory of a version may grow by a quarter of its limit. */}}
{{- $memory := printf "process_resident_memory_bytes{%s}[5m]" $series }}
{{- $growth := dig "limits" "memory" "" .Values.resources | include "common.mebibytes" | int64 | mul 262144 }}
{{- $_ := set $queries "memory" (printf "max_over_time(%s) - min_over_time(%s) > %d" $memory $memory $growth) }}
{{- toYaml $queries }}
{{- end }}

{{- define "common.progressiveDeliveryErrors" -}}
{{- with .Values.progressiveDelivery }}
{{- if .enabled }}
{{- if not .prometheus.address }}
progressiveDelivery.enabled is true, but progressiveDelivery.prometheus.address is empty, so that no objective could be measured: expected a form such as http://prometheus-operated.monitoring:9090
{{- end }}
{{- /* For the controller, the trial and the observation are time without progress. */}}
{{- $least := max (add (int64 .trialSeconds) 20) (add (int64 .observationSeconds) 10) }}
{{- $reason := "the larger of trialSeconds + 20 and observationSeconds + 10" }}
{{- if include "common.storeType" $ }}
{{- $migration := include "common.migrationWaitSeconds" $ | int64 }}
{{- $least = max $least (add $migration 30) }}
{{- $reason = printf "the largest of trialSeconds + 20, observationSeconds + 10, and 30 s more than the %d s for which a migration waits for its database" $migration }}
{{- end }}
{{- if lt (int64 .progressDeadlineSeconds) $least }}
progressiveDelivery.progressDeadlineSeconds is {{ .progressDeadlineSeconds }}, too early for a version that works: expected {{ $least }} or more, {{ $reason }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
