package org.opendedup.sar.hot.promotion;

import java.io.IOException;

/** Thrown to end a round of background promotion: the SSD accepts nothing, or the volume is being closed. */
final class PromotionStopped extends IOException {
    private static final long serialVersionUID = 1;

    PromotionStopped(String reason) {
        super(reason);
    }

    static PromotionStopped closing() {
        return new PromotionStopped("the volume is being closed");
    }
}
