// Written by `UPDATE_GOLDEN=1 npm test -- kube test/kube/feature-gates.test.ts`, from what the pinned kube-apiserver says of itself.

/** The feature gates of a minor version of Kubernetes: those that a Shoot may set, and those that are on or off for good. */
export interface Gates {
  readonly open: readonly string[];
  readonly on: readonly string[];
  readonly off: readonly string[];
}

/** By minor version. Each component of Kubernetes has all gates of its version, those of the others, too. */
export const knownGates: Readonly<Record<string, Gates>> = {
  "1.34": {
    open: names(`
      APIResponseCompression APIServerIdentity APIServingWithRoutine AggregatedDiscoveryRemoveBetaType AllAlpha AllBeta
      AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests AllowOverwriteTerminationGracePeriodSeconds
      AllowParsingUserUIDFromCertAuth AllowUnsafeMalformedObjectDeletion CBORServingAndStorage
      CPUManagerPolicyAlphaOptions CPUManagerPolicyBetaOptions CSIVolumeHealth ClearingNominatedNodeNameAfterBinding
      ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWebhook ClusterTrustBundle ClusterTrustBundleProjection
      ComponentFlagz ComponentStatusz ConcurrentWatchObjectDecode ContainerCheckpoint ContainerRestartRules
      ContainerStopSignals ContextualLogging CoordinatedLeaderElection CrossNamespaceVolumeDataSource
      CustomCPUCFSQuotaPeriod DRAAdminAccess DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints
      DRAExtendedResource DRAPartitionableDevices DRAPrioritizedList DRAResourceClaimDeviceStatus
      DRASchedulerFilterTimeout DeclarativeValidation DeclarativeValidationTakeover
      DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency DisableAllocatorDualWrite
      DisableCPUQuotaWithExclusiveCPUs DisableNodeKubeProxyVersion DynamicResourceAllocation EnvFiles EventedPLEG
      ExecProbeTimeout ExternalServiceAccountTokenSigner GitRepoVolumeDriver GracefulNodeShutdown
      GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HPAScaleToZero HostnameOverride ImageMaximumGCAge
      ImageVolume InOrderInformers InPlacePodVerticalScaling InPlacePodVerticalScalingAllocatedStatus
      InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory InTreePluginPortworxUnregister
      InformerResourceVersion JobManagedBy KMSv1 KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
      KubeletFineGrainedAuthz KubeletInUserNamespace KubeletPSI KubeletPodResourcesDynamicResources
      KubeletPodResourcesGet KubeletPodResourcesListUseActivePods KubeletRegistrationGetOnExistsOnly
      KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
      LocalStorageCapacityIsolationFSQuotaMonitoring LoggingAlphaOptions LoggingBetaOptions
      MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge MaxUnavailableStatefulSet
      MemoryQoS MutableCSINodeAllocatableCount MutatingAdmissionPolicy NodeLogQuery NominatedNodeNameForExpectation
      OpenAPIEnums PodAndContainerStatsFromCRI PodCertificateRequest PodDeletionCost PodLevelResources
      PodLogsQuerySplitStreams PodObservedGenerationTracking PodReadyToStartContainersCondition
      PodTopologyLabelsAdmission PortForwardWebsockets PreferSameTrafficDistribution PreventStaticPodAPIReferences
      ProcMountType QOSReserved ReduceDefaultCrashLoopBackOffDecay RelaxedServiceNameValidation
      ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus RotateKubeletServerCertificate
      RuntimeClassInImageCriApi SELinuxChangePolicy SELinuxMount SELinuxMountReadWriteOncePod SchedulerAsyncAPICalls
      SchedulerAsyncPreemption SchedulerPopFromBackoffQ SeparateCacheWatchRPC ServiceAccountNodeAudienceRestriction
      SizeBasedListCostEstimate StatefulSetSemanticRevisionComparison StorageCapacityScoring StorageNamespaceIndex
      StorageVersionAPI StorageVersionHash StorageVersionMigrator StrictIPCIDRValidation
      StructuredAuthenticationConfigurationEgressSelector SupplementalGroupsPolicy SystemdWatchdog
      TokenRequestServiceAccountUIDValidation TopologyManagerPolicyAlphaOptions TopologyManagerPolicyBetaOptions
      TopologyManagerPolicyOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
      UnknownVersionInteroperabilityProxy UserNamespacesPodSecurityStandards UserNamespacesSupport
      VolumeAttributesClass WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsCPUAndMemoryAffinity
      WindowsGracefulNodeShutdown WindowsHostNetwork
    `),
    on: names(`
      APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
      AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIMigrationPortworx
      ComponentSLIs ConsistentListFromCache CronJobsScheduledAnnotation CustomResourceFieldSelectors
      HonorPVReclaimPolicy JobBackoffLimitPerIndex JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
      KubeletTracing LoadBalancerIPMode LogarithmicScaleDown MatchLabelKeysInPodAffinity MemoryManager
      MultiCIDRServiceAllocator NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeSwap
      OrderedNamespaceDeletion PodIndexLabel PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
      PodSchedulingReadiness ProbeHostPodSecurityStandards RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
      RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization
      RetryGenerateName SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI
      ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
      ServiceTrafficDistribution SidecarContainers SizeMemoryBackedVolumes StatefulSetAutoDeletePVC
      StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StrictCostEnforcementForVAP
      StrictCostEnforcementForWebhooks StructuredAuthenticationConfiguration StructuredAuthorizationConfiguration
      TopologyAwareHints WinDSR WinOverlay
    `),
    off: names(`
      AllowServiceLBStatusOnNonLB WatchFromStorageWithoutResourceVersion
    `),
  },
};

function names(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
