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

{{- /* How a Rollout replaces a version. */}}
{{- define "common.rolloutStrategy" -}}
{{- $delivery := .Values.progressiveDelivery }}
progressDeadlineSeconds: {{ $delivery.progressDeadlineSeconds }}
progressDeadlineAbort: true
strategy:
  {{- include (printf "common.%sStrategy" $delivery.strategy) . | trim | nindent 2 }}
{{- end }}

{{- /* All pods of the next version are started and analysed before the switch. */}}
{{- define "common.blueGreenStrategy" -}}
blueGreen:
  activeService: {{ include "common.name" . | quote }}
  previewService: {{ include "common.previewName" . | quote }}
  # Proxies keep using their open connections to the pods of an aborted version until these pods terminate.
  abortScaleDownDelaySeconds: 1
  prePromotionAnalysis:
    {{- include "common.analysisOf" (list . "trial" "objectives") | trim | nindent 4 }}
  postPromotionAnalysis:
    {{- include "common.analysisOf" (list . "observation") | trim | nindent 4 }}
{{- end }}

{{- /*
The trial, then one step per weight. With a router, the trial is a part of the first step: the router sends no requests
to its pods. Without a router, the Service would send them requests, so the trial is an Experiment.
*/}}
{{- define "common.canaryStrategy" -}}
{{- $root := . }}
{{- $router := include "common.trafficRouting" . | fromYaml }}
canary:
  {{- if $router }}
  stableService: {{ include "common.name" . | quote }}
  canaryService: {{ include "common.previewName" . | quote }}
  trafficRouting:
    {{- toYaml $router | nindent 4 }}
  # preStop keeps the pods until the router has its new weights.
  abortScaleDownDelaySeconds: 1
  scaleDownDelaySeconds: 5
  {{- else }}
  maxSurge: 1
  maxUnavailable: 0
  {{- end }}
  steps:
    {{- if not $router }}
    - experiment:
        # The controller adds this field: without it, the next upgrade would conflict with the controller.
        analysisRunMetadata: {}
        templates:
          - name: trial
            specRef: canary
            replicas: 1
            metadata:
              labels:
                {{- include "common.trialLabels" . | nindent 16 }}
        analyses:
          {{- range list "trial" "objectives" }}
          - name: {{ . }}
            templateName: {{ include "common.name" $root }}-{{ . }}
            requiredForCompletion: true
            {{- include "common.analysisArguments" $root | trim | nindent 12 }}
          {{- end }}
    {{- end }}
    {{- range $index, $weight := .Values.progressiveDelivery.canary.weights }}
    {{- if $router }}
    - setCanaryScale: { weight: {{ $weight }} }
    {{- if eq $index 0 }}
    - analysis:
        {{- include "common.analysisOf" (list $root "trial" "objectives") | trim | nindent 8 }}
    {{- end }}
    {{- end }}
    - setWeight: {{ $weight }}
    - analysis:
        {{- include "common.analysisOf" (list $root "observation") | trim | nindent 8 }}
    {{- end }}
{{- end }}

{{- /* The block trafficRouting of a Rollout: the router of a canary. Empty: the number of pods divides the requests. */}}
{{- define "common.trafficRouting" -}}
{{- with .Values.progressiveDelivery }}
{{- if and .enabled (eq .strategy "canary") }}
{{- $traefik := .canary.traefik.enabled | ternary (dict "traefik" (dict "weightedTraefikServiceName" (include "common.name" $))) dict }}
{{- tpl (toYaml (merge $traefik .canary.trafficRouting)) $ }}
{{- end }}
{{- end }}
{{- end }}

{{- /*
Whether a canary has no router, so that the number of pods divides the requests. The chart, and not Argo Rollouts, then
sets the selectors of both Services.
*/}}
{{- define "common.isDividedByPods" -}}
{{- with .Values.progressiveDelivery }}
{{- if and .enabled (eq .strategy "canary") (not (include "common.trafficRouting" $ | fromYaml)) }}true{{ end }}
{{- end }}
{{- end }}

{{- /* The label that pods have during a trial without a router, so that only the preview Service selects them. */}}
{{- define "common.trialLabels" -}}
app.kubernetes.io/part-of: fw-trial
{{- end }}

{{- /* An analysis of the pods of the next version: (list $ "trial" "objectives"). */}}
{{- define "common.analysisOf" -}}
{{- $root := first . }}
templates:
  {{- range rest . }}
  - templateName: {{ include "common.name" $root }}-{{ . }}
  {{- end }}
{{- include "common.analysisArguments" $root }}
{{- end }}

{{- define "common.analysisArguments" }}
args:
  - name: pods
    valueFrom:
      podTemplateHashValue: Latest
{{- end }}

{{- /*
The Services of both versions with their shares of the requests, for a TraefikService or an HTTPRoute:
(list $ apiVersion kind). Argo Rollouts changes the shares. The chart therefore repeats those in the cluster: an
upgrade with other shares would conflict with the controller.
*/}}
{{- define "common.shares" -}}
{{- $root := first . }}
{{- $name := include "common.name" $root }}
{{- $weights := dict $name 100 (include "common.previewName" $root) 0 }}
{{- $live := dict }}
{{- if $root.Capabilities.APIVersions.Has (index . 1) }}
{{- $live = lookup (index . 1) (index . 2) $root.Release.Namespace $name | default dict }}
{{- end }}
{{- $services := dig "spec" "weighted" "services" list $live }}
{{- range dig "spec" "rules" list $live }}{{ $services = concat $services (.backendRefs | default list) }}{{ end }}
{{- range $services }}
{{- if and (hasKey $weights .name) (hasKey . "weight") }}{{ $_ := set $weights .name (int .weight) }}{{ end }}
{{- end }}
{{- range $each := list $name (include "common.previewName" $root) }}
- name: {{ $each | quote }}
  port: {{ $root.Values.service.port }}
  weight: {{ get $weights $each }}
{{- end }}
{{- end }}

{{- /* The paths of the service at Traefik, and the shares of both versions. */}}
{{- define "common.traefik" -}}
{{- $traefik := .Values.progressiveDelivery.canary.traefik }}
{{- $name := include "common.name" . }}
apiVersion: traefik.io/v1alpha1
kind: TraefikService
metadata:
  name: {{ $name | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  weighted:
    services:
      {{- include "common.shares" (list . "traefik.io/v1alpha1" "TraefikService") | trim | nindent 6 }}
---
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata:
  name: {{ $name | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  {{- with $traefik.entryPoints }}
  entryPoints:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $traefik.tls }}
  tls:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  routes:
    {{- range include "common.paths" . | fromYamlArray }}
    - kind: Rule
      match: {{ with $traefik.hosts }}(Host(`{{ join "`) || Host(`" . }}`)) && {{ end }}(Path(`{{ . }}`) || PathPrefix(`{{ . }}/`))
      services:
        - kind: TraefikService
          name: {{ $name | quote }}
    {{- end }}
{{- end }}

{{- /* The Service of the next version. Argo Rollouts sets its selector, except in a canary without a router. */}}
{{- define "common.previewService" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "common.previewName" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    app.kubernetes.io/component: preview
spec:
  type: ClusterIP
  {{- if include "common.isDividedByPods" . }}
  selector:
    {{- include "common.selectorLabels" . | nindent 4 }}
    {{- include "common.trialLabels" . | nindent 4 }}
  {{- end }}
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
    # Prometheus has the first samples after two intervals.
    - name: has-metrics
      initialDelay: 15s
      count: 1
      successCondition: len(result) > 0
      provider:
        prometheus:
          address: {{ $root.Values.progressiveDelivery.prometheus.address | quote }}
          query: count(process_start_time_seconds{ {{- include "common.versionSeries" $root }}})
    {{- range $name, $query := include "common.violations" $root | fromYaml }}
    - name: {{ $name | quote }}
      interval: 5s
      # The controller rejects an argument here, so the template contains the number.
      count: {{ add 1 (div (int64 $.seconds) 5) }}
      successCondition: len(result) == 0
      provider:
        prometheus:
          address: {{ $root.Values.progressiveDelivery.prometheus.address | quote }}
          query: |-
            {{- $query | nindent 12 }}
    {{- end }}
{{- end }}

{{- /* Selects the series of the pods of one version. Argo Rollouts replaces args.pods by the hash of the version. */}}
{{- define "common.versionSeries" -}}
namespace="{{ .Release.Namespace }}",pod=~"{{ include "common.name" . }}-{{ "{{args.pods}}" }}-.*"
{{- end }}

{{- /* Queries by the name of an objective. A query has no result as long as the version meets the objective. */}}
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
{{- include "common.canaryErrors" $ }}
{{- $least := 0 }}
{{- $reason := "" }}
{{- if eq .strategy "blueGreen" }}
{{- /* Argo Rollouts counts the trial and the observation as time without progress, except in a canary: there they are steps. */}}
{{- $least = max (add (int64 .trialSeconds) 20) (add (int64 .observationSeconds) 10) }}
{{- $reason = "the larger of trialSeconds + 20 and observationSeconds + 10" }}
{{- end }}
{{- if include "common.storeType" $ }}
{{- $migration := include "common.migrationWaitSeconds" $ | int64 }}
{{- $least = max $least (add $migration 30) }}
{{- $reason = printf "%s30 s more than the %d s for which a migration waits for its database" (empty $reason | ternary "" "the largest of trialSeconds + 20, observationSeconds + 10, and ") $migration }}
{{- end }}
{{- if lt (int64 .progressDeadlineSeconds) $least }}
progressiveDelivery.progressDeadlineSeconds is {{ .progressDeadlineSeconds }}, too early for a version that works: expected {{ $least }} or more, {{ $reason }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "common.canaryErrors" -}}
{{- $canary := .Values.progressiveDelivery.canary }}
{{- if include "common.isDividedByPods" . }}
{{- $router := "or a router: progressiveDelivery.canary.traefik.enabled or trafficRouting" }}
{{- if .Values.autoscaling.enabled }}
progressiveDelivery.strategy is canary and autoscaling.enabled is true, so that the number of pods, which divides the requests, changes: expected no autoscaling, {{ $router }}
{{- else }}
{{- $shares := list }}
{{- range $pods := untilStep 1 (int (add 1 .Values.replicaCount)) 1 }}
{{- $shares = append $shares (round (divf (mulf 100 $pods) $.Values.replicaCount) 0 | int) }}
{{- end }}
{{- $wrong := list }}
{{- range $canary.weights }}
{{- if not (has (int .) $shares) }}{{ $wrong = append $wrong . }}{{ end }}
{{- end }}
{{- if $wrong }}
progressiveDelivery.canary.weights contains {{ join ", " $wrong }}, but replicaCount {{ $.Values.replicaCount }} divides the requests: expected only {{ join ", " $shares }}, {{ $router }}
{{- end }}
{{- end }}
{{- else if and $canary.traefik.enabled .Values.networkPolicy.enabled (not (include "common.callers" . | trim)) }}
progressiveDelivery.canary.traefik.enabled is true, but the NetworkPolicy would block Traefik: expected its pods or namespace in networkPolicy.from
{{- end }}
{{- end }}
