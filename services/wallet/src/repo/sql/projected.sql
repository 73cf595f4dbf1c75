, projection AS (
    UPDATE projected SET size = fence.size FROM fence
    WHERE projected.log = fence.log AND projected.size = $3
)
