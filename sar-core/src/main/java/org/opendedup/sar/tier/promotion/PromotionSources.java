package org.opendedup.sar.tier.promotion;

import java.util.function.LongSupplier;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.metadata.recipes.RecipeStore;
import org.opendedup.sar.tier.copies.CountSource;

/**
 * What promotion in the background reads of a volume: its recipes and chunks.
 *
 * @param diskUse a number that changes with every use of the disk by the volume's users, but not by the promotion
 */
public record PromotionSources(
        RecipeStore recipes, ContainerStore containers, HomeFrames frames, CountSource counts, LongSupplier diskUse) {}
