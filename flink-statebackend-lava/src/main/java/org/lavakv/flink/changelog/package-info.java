/**
 * Storage of Flink's changelog: a job that sets {@code state.changelog.enabled: true} and {@code
 * state.changelog.storage: lava} has its changes in files beside its checkpoints, whatever its
 * state backend is. See docs/changelog.md.
 *
 * <p>Layer: uses Flink only; nothing else of the plugin uses it.
 */
package org.lavakv.flink.changelog;
