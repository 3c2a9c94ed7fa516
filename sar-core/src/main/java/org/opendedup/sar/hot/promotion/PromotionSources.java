package org.opendedup.sar.hot.promotion;

import java.util.function.LongSupplier;
import org.opendedup.sar.container.ContainerStore;
import org.opendedup.sar.hot.copies.CountSource;
import org.opendedup.sar.metadata.recipes.RecipeStore;

/**
 * What promotion in the background reads of a volume: its recipes and chunks.
 *
 * @param diskUse a number that changes with every use of the disk by the volume's users, but not by the promotion
 */
public record PromotionSources(
        RecipeStore recipes, ContainerStore containers, HomeFrames frames, CountSource counts, LongSupplier diskUse) {}
