{{- define "monitor.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "monitor.instance" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* What Service, monitors, policies and workload select by; the pod of `helm test` has it not. */}}
{{- define "monitor.selector" -}}
{{ include "monitor.instance" . }}
app.kubernetes.io/component: daemon
{{- end -}}

{{- define "monitor.labels" -}}
{{ include "monitor.instance" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "monitor.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "monitor.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "monitor.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{/* What pods of the daemon and of `helm test` have in common. */}}
{{- define "monitor.podSpec" -}}
serviceAccountName: {{ include "monitor.serviceAccount" . }}
automountServiceAccountToken: false
# A Service called variant-monitor would otherwise become variables that look like settings.
enableServiceLinks: false
securityContext: {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- define "monitor.container" -}}
image: {{ include "monitor.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext: {{- toYaml .Values.securityContext | nindent 2 }}
resources: {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - {name: config, mountPath: /etc/variant-monitor, readOnly: true}
  - {name: tmp, mountPath: /tmp}
  - name: state
    mountPath: {{ .Values.config.state.directory }}
  {{- range $name, $_ := .Values.suites }}
  - name: suite-{{ $name }}
    mountPath: /suites/{{ $name }}
    readOnly: true
  {{- end }}
  {{- range $index, $name := .Values.existingSecrets }}
  - name: secret-{{ $index }}
    mountPath: /secrets/{{ $name }}
    readOnly: true
  {{- end }}
{{- end -}}

{{/* All but `state`. */}}
{{- define "monitor.volumes" -}}
- name: config
  configMap:
    name: {{ include "monitor.fullname" . }}
- name: tmp
  emptyDir: {sizeLimit: 256Mi}
{{- range $name, $source := .Values.suites }}
- name: suite-{{ $name }}
  {{- toYaml $source | nindent 2 }}
{{- end }}
{{- range $index, $name := .Values.existingSecrets }}
- name: secret-{{ $index }}
  secret:
    secretName: {{ $name }}
    defaultMode: 0440
{{- end }}
{{- end -}}
