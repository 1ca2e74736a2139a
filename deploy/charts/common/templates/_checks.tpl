{{- /*
Fails with one line for each combination of values that would lose data or requests. The schema checks the shape of the
values, and the service checks its own variables.
*/}}
{{- define "common.checks" -}}
{{- $errors := list }}
{{- with .Values }}
{{- if not .image.repository }}{{ $errors = append $errors "image.repository is empty: expected the name of an image" }}{{ end }}
{{- if not (or .image.digest (include "common.tag" $)) }}{{ $errors = append $errors "image.tag and image.digest are empty: expected one of them" }}{{ end }}
{{- if eq (int .containerPorts.http) (int .containerPorts.health) }}{{ $errors = append $errors (printf "containerPorts.http and containerPorts.health are both %v: expected two ports" .containerPorts.http) }}{{ end }}
{{- if .persistence.enabled }}
{{- $reason := "but persistence.enabled keeps the data in one pod: expected persistence.enabled false, or" }}
{{- if gt (int .replicaCount) 1 }}{{ $errors = append $errors (printf "replicaCount is %v, %s replicaCount 1" .replicaCount $reason) }}{{ end }}
{{- if .autoscaling.enabled }}{{ $errors = append $errors (printf "autoscaling.enabled is true, %s false" $reason) }}{{ end }}
{{- if .progressiveDelivery.enabled }}{{ $errors = append $errors (printf "progressiveDelivery.enabled is true, %s false" $reason) }}{{ end }}
{{- end }}
{{- range $name, $secret := .secrets }}
{{- if and .value .existingSecret }}{{ $errors = append $errors (printf "secrets.%s has a value and an existingSecret: expected one of them" $name) }}{{ end }}
{{- if and .existingSecret (not .key) }}{{ $errors = append $errors (printf "secrets.%s.key is empty: expected the key in the Secret %s" $name .existingSecret) }}{{ end }}
{{- end }}
{{- range $name, $rule := .networkPolicy.egress }}
{{- if not .to }}{{ $errors = append $errors (printf "networkPolicy.egress.%s.to is empty, which would allow every address: expected peers such as [{ipBlock: {cidr: 10.1.2.3/32}}]" $name) }}{{ end }}
{{- if not .ports }}{{ $errors = append $errors (printf "networkPolicy.egress.%s.ports is empty, which would allow every port: expected numbers such as [5432]" $name) }}{{ end }}
{{- end }}
{{- range $key := list "ingress" "httpRoute" }}
{{- if and (get $.Values $key).enabled $.Values.networkPolicy.enabled (not $.Values.networkPolicy.from) }}{{ $errors = append $errors (printf "%s.enabled is true, but the NetworkPolicy would block the controller: expected its pods or namespace in networkPolicy.from" $key) }}{{ end }}
{{- end }}
{{- if and .ingress.enabled (not .ingress.hosts) }}{{ $errors = append $errors "ingress.enabled is true, but ingress.hosts is empty: expected a host such as [{host: api.example.org}]" }}{{ end }}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) }}{{ $errors = append $errors "httpRoute.enabled is true, but httpRoute.parentRefs is empty: expected a gateway such as [{name: public}]" }}{{ end }}
{{- if and .metrics.prometheusRule.enabled (not .metrics.serviceMonitor.enabled) }}{{ $errors = append $errors "metrics.prometheusRule.enabled is true, but metrics.serviceMonitor.enabled is false, so that the alert ServiceUnavailable would fire permanently: expected metrics.serviceMonitor.enabled true" }}{{ end }}
{{- if and .entryProbe.enabled (not .entryProbe.url) }}{{ $errors = append $errors "entryProbe.enabled is true, but entryProbe.url is empty: expected the address that clients use, such as https://api.example.org" }}{{ end }}
{{- with .progressiveDelivery }}
{{- if .enabled }}
{{- if not .prometheus.address }}{{ $errors = append $errors "progressiveDelivery.enabled is true, but progressiveDelivery.prometheus.address is empty: expected a form such as http://prometheus-operated.monitoring:9090" }}{{ end }}
{{- if not $.Values.test.command }}{{ $errors = append $errors "progressiveDelivery.enabled is true, but test.command is empty, so that there would be no trial: expected a command that tests the service" }}{{ end }}
{{- if and (eq .strategy "canary") (not .canary.trafficRouting) }}{{ $errors = append $errors "progressiveDelivery.strategy is canary, but progressiveDelivery.canary.trafficRouting is empty: expected a router, or strategy blueGreen" }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- with $errors }}{{ fail (printf "\n%s: %s" $.Chart.Name (join (printf "\n%s: " $.Chart.Name) .)) }}{{ end }}
{{- end }}
