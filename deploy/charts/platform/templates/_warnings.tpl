{{- /* Settings that are allowed but risky. */}}
{{- define "platform.warnings" -}}
{{- $images := list }}
{{- $keys := list "global.image.registry" }}
{{- range $name := include "platform.services" . | fromYamlArray }}
{{- with include "common.imageWithoutRegistry" (get $.Subcharts $name) }}
{{- $images = append $images . }}
{{- $keys = append $keys (printf "%s.image.registry" $name) }}
{{- end }}
{{- end }}
{{- with $images }}
* Unless the nodes have the images {{ join ", " . }}, they pull them from Docker Hub, which does not have them (ErrImagePull): set {{ join ", " (rest $keys) }}, or {{ first $keys }} for all images of the platform.
{{- end }}
{{- with .Values.postgres }}
{{- if .enabled }}
{{- if .storage.ephemeral }}
* All data is lost when the pod of PostgreSQL ends: postgres.storage.ephemeral is for trials.
{{- else }}
* The bundled PostgreSQL is for trials: one server, no replication, no backups. Its volume stays when the release is uninstalled.
{{- end }}
{{- if not (include "platform.postgresUsers" $ | fromYamlArray) }}
* No service uses the bundled PostgreSQL: postgres.enabled=false removes it.
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.valkey }}
{{- if .enabled }}
* The bundled Valkey is for trials: the counts of the rate limits are lost when its pod ends.
{{- end }}
{{- end }}
{{- with .Values.edge }}
{{- if and .enabled (ne .service.type "ClusterIP") (not .tls.secretName) }}
* The edge uses plain HTTP, so that tokens can be intercepted: set edge.tls.secretName, or terminate TLS in front of it.
{{- end }}
{{- if and .enabled .tls.secretName (eq .service.type "NodePort") (ne (int .tls.port) (int .tls.nodePort)) }}
* The edge redirects HTTP to port {{ .tls.port }}, where no node listens: set edge.tls.port and edge.tls.nodePort to the same port, unless a load balancer forwards port {{ .tls.port }}.
{{- end }}
{{- if and .enabled (lt (int .replicaCount) 2) }}
* The edge has only one pod: upgrades lose no request, but a crash or a failed node causes an outage.
{{- end }}
{{- end }}
{{- if and .Values.global.ingress.enabled (eq .Values.global.ingress.controller "ingress-nginx") }}
* ingress-nginx has had no fixes since March 2026 and has known vulnerabilities: plan to replace it.
{{- end }}
{{- end }}
