package org.opendedup.sar.tier.policy;

/** Creates the policy that the settings name. */
public final class PromotionPolicies {
    private PromotionPolicies() {}

    public static PromotionPolicy of(TierSettings settings) {
        return switch (settings.policy()) {
            case REFERENCE_COUNT ->
                new ReferenceCountPolicy(settings.referenceCountThreshold(), settings.maxRunBytes());
            case OPEN -> new OpenPolicy();
            case COST -> new CostPolicy(settings.maxRunBytes());
        };
    }
}
