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
{{- if .Values.progressiveDelivery.enabled }}
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
{{- end }}

{{- define "common.analysis" -}}
{{- $delivery := .Values.progressiveDelivery }}
{{- if $delivery.enabled }}
{{- include "common.trial" . }}
{{- /* The Job of the trial needs about 5 s to start. */}}
---
{{ include "common.objectives" (dict "root" . "name" "objectives" "seconds" (add 5 (int64 $delivery.trialSeconds))) }}
---
{{ include "common.objectives" (dict "root" . "name" "observation" "seconds" $delivery.observationSeconds) }}
{{- end }}
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
The objectives of deploy/slo.ts, measured by Prometheus every 5 s since the pods of a version were started:
(dict "root" $ "name" suffix "seconds" 60).
*/}}
{{- define "common.objectives" -}}
{{- $name := .name }}
{{- $measurements := add 1 (div (int64 .seconds) 5) }}
{{- with .root }}
{{- $memory := dig "limits" "memory" "" (.Values.resources | default dict) | include "common.mebibytes" | int64 }}
apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata:
  name: {{ include "common.name" . }}-{{ $name }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  args:
    - name: pods
  metrics:
    {{- $metrics := include "common.monitoringFile" (list . "files/analysis.yaml") | replace "PROMETHEUS" .Values.progressiveDelivery.prometheus.address }}
    {{- $metrics | replace "MEASUREMENTS" (toString $measurements) | replace "MEMORY_GROWTH" (div (mul $memory 1048576) 4 | toString) | nindent 4 }}
{{- end }}
{{- end }}

{{- define "common.progressiveDeliveryErrors" -}}
{{- with .Values.progressiveDelivery }}
{{- if .enabled }}
{{- if not .prometheus.address }}
progressiveDelivery.enabled is true, but progressiveDelivery.prometheus.address is empty, so that no objective could be measured: expected a form such as http://prometheus-operated.monitoring:9090
{{- end }}
{{- with $.Values.metrics.serviceMonitor }}
{{- if and .enabled (ne .interval "5s") }}
progressiveDelivery.enabled is true, but metrics.serviceMonitor.interval is {{ .interval | quote }}, so that the first measurement would find no metrics: expected 5s
{{- end }}
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
