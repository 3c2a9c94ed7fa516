/**
 * Whether a mounted volume is well. {@link org.opendedup.sar.sdfs.health.HealthFacts} are collected from the engine and
 * the daemon; {@link org.opendedup.sar.sdfs.health.HealthRules} decide about them, as a pure function.
 */
@NullMarked
package org.opendedup.sar.sdfs.health;

import org.jspecify.annotations.NullMarked;
